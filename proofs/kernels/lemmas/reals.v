From Coq Require Import Reals Lra List.
Open Scope R_scope.

Lemma contradiction (s : R) : 0 < s -> s = 0 -> False.
Proof. intros; lra. Qed.

Lemma multiple_of_zero (q e : R) : e = 0 -> 0 <= q * e.
Proof. intro zero; rewrite zero, Rmult_0_r; apply Rle_refl. Qed.

Lemma square_of_nonzero (p : R) : p <> 0 -> 0 < p * p.
Proof. exact (Rsqr_pos_lt p). Qed.

Lemma le_by_contradiction (p : R) : (0 < - p -> False) -> 0 <= p.
Proof. intro absurd; destruct (Rle_or_lt 0 p); [assumption | exfalso; apply absurd; lra]. Qed.

Lemma lt_by_contradiction (p : R) : (0 <= - p -> False) -> 0 < p.
Proof. intro absurd; destruct (Rle_or_lt p 0); [exfalso; apply absurd; lra | assumption]. Qed.

Lemma eq_by_contradiction (p : R) : (0 < p * p -> False) -> p = 0.
Proof.
  intro absurd; destruct (Req_dec p 0); [assumption | exfalso; apply absurd].
  now apply square_of_nonzero.
Qed.

Lemma le_as (p q : R) : 0 <= p -> p = q -> 0 <= q.
Proof. intros; lra. Qed.
Lemma lt_as (p q : R) : 0 < p -> p = q -> 0 < q.
Proof. intros; lra. Qed.
Lemma eq_as (p q : R) : p = 0 -> p = q -> q = 0.
Proof. intros; lra. Qed.
Lemma ne_as (p q : R) : p <> 0 -> p = q -> q <> 0.
Proof. intros differs same; rewrite <- same; exact differs. Qed.
