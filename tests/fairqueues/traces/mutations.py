"""Files as people and machines spoil them: seeded mutations of small files that are right."""

import gzip
import re
from contextlib import suppress

import numpy as np

CELLS = (
    "", " ", "nan", "NaN", "inf", "-inf", "1e400", "-1e400", "1e-400", "1e18", "1e19", "-1", "-0", "0", "1",
    "1.0", "1.5", "9" * 400, "0." + "3" * 60, "2147483648", "4294967296", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
    "1e999999999", "1/3", "1/0", "100m", "4Gi", "0x10", "1_000", "1,000", "1 000", "\u0661\u0662", "\uff15",
    "+5", "5.", ".5", ".", "-", "1e", "True", "None", "null", "NA", "x", '"', '""', '"a\nb"', 'a"b', "\0",
    "\u00a05", "\u202e", "2023-11-16", "2023-11-16 18:17:03.1234567890123", "0001-01-01 00:00:00",
    "9999-12-31 23:59:59", "2023-11-16T18:17:03+25:00", "2017-10-07 01:12:09+02:00", "a|b", "T4", "CN", "LS",
    "a;b", "a/b", "=1+1", "#",
)  # fmt: skip
"""What may stand in a cell."""

WHOLE_FILES = (
    b"\n", b"", b"\r", b" ", b"\n\n\n", b"\0\0", b'"', b",", b"\xef\xbb\xbf", b"[]", b"{}", b"[", b"null",
    b"1",
)  # fmt: skip
WORDS = re.compile(r"-?[0-9][0-9.:]*|\"[^\"\n]*\"|[A-Za-z]+|[\[\]{},:<>/=\t]")


def _pick(rng, things):
    return things[int(rng.integers(len(things)))]


def _written(rng, rows, k, j):
    rows[k][j] = _pick(rng, CELLS)


def _cut(rng, rows, k, j):
    del rows[k][j]


def _cut_end(rng, rows, k, j):
    del rows[k][-int(rng.integers(1, 3)) :]


def _more(rng, rows, k, j):
    rows[k].insert(j, _pick(rng, CELLS))


def _head(rng, rows, k, j):
    rows[0][int(rng.integers(len(rows[0])))] = _pick(rng, rows[0] if rng.random() < 0.7 else CELLS)


def _twice(rng, rows, k, j):
    """One more column of a name that is there, with other cells."""
    for n, row in enumerate(rows):
        row.append(str(rng.integers(100)) if n else row[j])


def _exchanged(rng, rows, k, j):
    other = int(rng.integers(len(rows[0])))
    for row in rows:
        row[j], row[other] = row[other], row[j]


def _line_twice(rng, rows, k, j):
    rows.insert(int(rng.integers(len(rows) + 1)), list(rows[k]))


def _line_gone(rng, rows, k, j):
    del rows[k]


def _blank(rng, rows, k, j):
    rows.insert(k, [_pick(rng, ("", " ", "\t", "#", '""'))])


def _quoted(rng, rows, k, j):
    rows[k][j] = '"' + rows[k][j] + '"' * int(rng.random() < 0.8)


def _padded(rng, rows, k, j):
    rows[k][j] = _pick(rng, (" ", "\t", "\u00a0", "")) + rows[k][j] + _pick(rng, (" ", "\t", "\v"))


OF_ROWS = (
    _written, _written, _written, _written, _cut, _cut_end, _more, _head, _twice, _exchanged, _line_twice,
    _line_gone, _blank, _quoted, _padded,
)  # fmt: skip


def _damaged(rng, data):
    """The file as a whole: ends of lines, its beginning and end, single bytes, signs between cells, gzip."""
    kind, at = int(rng.integers(14)), int(rng.integers(len(data) + 1))
    if kind < 4:
        return data.replace(b"\n", (b"\r\n", b"\r", b"\n\r", b"\n\n")[kind])
    if kind == 4:
        return data.replace(b"\n", b"\r", 1 + int(rng.integers(3)))
    if kind == 5:
        return data[:at]
    if kind == 6:
        return data[:at] + bytes([int(rng.integers(256))]) + data[at + 1 :]
    if kind == 7:
        return _pick(rng, WHOLE_FILES)
    if kind == 8:
        return b"\xef\xbb\xbf" * int(rng.integers(1, 3)) + data
    if kind == 9:
        return data.decode("utf-8", "replace").encode(_pick(rng, ("utf-16", "utf-16-le", "utf-32")))
    if kind == 10:
        return data.replace(b",", _pick(rng, (b";", b"\t", b"|", b", ", b" ,")))
    if kind == 11:
        packed = gzip.compress(data, mtime=0)
        at = int(rng.integers(len(packed) + 1))
        return _pick(rng, (packed, packed[:at], packed[:at] + b"x" + packed[at + 1 :]))
    if kind == 12:
        return data[:at] + b"\xff" + data[at:]
    return data.rstrip(b"\n")


def _spoiled_table(rng, text):
    rows = [line.split(",") for line in text.splitlines()]
    for _ in range(_pick(rng, (1, 1, 1, 2, 3))):
        if rows:
            k = int(rng.integers(len(rows)))
            j = int(rng.integers(max(len(rows[k]), 1)))
            with suppress(IndexError, ValueError):  # of rows that were cut
                _pick(rng, OF_ROWS)(rng, rows, k, j)
    return "".join(",".join(row) + "\n" for row in rows)


def _spoiled_words(rng, text):
    for _ in range(_pick(rng, (1, 1, 2, 3))):
        if words := list(WORDS.finditer(text)):
            word = _pick(rng, words)
            cell, other = _pick(rng, CELLS), _pick(rng, words)[0]
            new = _pick(rng, (cell, cell, "", word[0] * 2, other, "[]", "{}", "null", f'"{cell}"'))
            text = text[: word.start()] + new + text[word.end() :]
    return text


def spoiled(name, text, *seed):
    """The bytes of a file with one to three mutations; of a table if it is called so."""
    rng = np.random.default_rng(seed)
    table = name.endswith(".csv") or name == "machines"
    data = (_spoiled_table if table else _spoiled_words)(rng, text).encode("utf-8", "surrogatepass")
    return _damaged(rng, data) if rng.random() < 0.25 else data
