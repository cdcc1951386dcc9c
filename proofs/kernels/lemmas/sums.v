Fixpoint total (l : list nat) (f : nat -> R) : R :=
  match l with nil => 0 | cons i rest => f i + total rest f end.

Lemma total_ext (l : list nat) (f g : nat -> R) :
  (forall i, In i l -> f i = g i) -> total l f = total l g.
Proof.
  induction l as [|i rest IH]; intro same; simpl; [reflexivity|].
  rewrite (same i (or_introl eq_refl)), IH; [reflexivity | intros k there; apply same; now right].
Qed.

Lemma total_plus (l : list nat) (f g : nat -> R) :
  total l (fun i => f i + g i) = total l f + total l g.
Proof. induction l as [|i rest IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma total_scale (l : list nat) (c : R) (f : nat -> R) : total l (fun i => c * f i) = c * total l f.
Proof. induction l as [|i rest IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma total_not_negative (l : list nat) (f : nat -> R) :
  (forall i, In i l -> 0 <= f i) -> 0 <= total l f.
Proof.
  induction l as [|i rest IH]; intro each; simpl; [apply Rle_refl|].
  apply Rplus_le_le_0_compat; [apply each; now left | apply IH; intros k there; apply each; now right].
Qed.

Lemma total_zero (l : list nat) (f : nat -> R) : (forall i, In i l -> f i = 0) -> total l f = 0.
Proof.
  induction l as [|i rest IH]; intro each; simpl; [reflexivity|].
  rewrite (each i (or_introl eq_refl)), IH; [ring | intros k there; apply each; now right].
Qed.

Lemma total_exchange (l m : list nat) (f : nat -> nat -> R) :
  total l (fun i => total m (fun j => f i j)) = total m (fun j => total l (fun i => f i j)).
Proof.
  induction l as [|i rest IH]; simpl.
  - symmetry; apply total_zero; reflexivity.
  - rewrite IH; symmetry; apply total_plus.
Qed.

Lemma zero_multiple (q e : R) : e = 0 -> q * e = 0.
Proof. intro zero; rewrite zero; apply Rmult_0_r. Qed.

Ltac same known :=
  first [ exact known | apply (le_as _ _ known); field | apply (lt_as _ _ known); field
        | apply (eq_as _ _ known); field ].
