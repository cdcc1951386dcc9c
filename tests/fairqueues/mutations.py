"""Files as people and machines spoil them: seeded mutations of small files that are right."""

import gzip

import numpy as np

CELLS = (
    "", " ", "nan", "NaN", "inf", "-inf", "1e400", "-1e400", "1e-400", "1e18", "1e19", "-1", "-0", "0", "1", "1.0", "1.5",
    "9" * 400, "0." + "3" * 60, "2147483648", "4294967296", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e999999999", "1/3", "1/0", "100m", "4Gi", "0x10",
    "1_000", "1,000", "1 000", "\u0661\u0662", "\uff15", "+5", "5.", ".5", ".", "-", "1e", "True", "None", "null", "NA", "x", '"',
    '""', '"a\nb"', 'a"b', "\0", "\u00a05", "\u202e", "2023-11-16", "2023-11-16 18:17:03.1234567890123", "0001-01-01 00:00:00",
    "9999-12-31 23:59:59", "2023-11-16T18:17:03+25:00", "2017-10-07 01:12:09+02:00", "a|b", "T4", "CN", "LS", "a;b", "a/b", "=1+1", "#",
)  # fmt: skip
"""What may stand in a cell."""


def _cut(rng, rows, k, j):
    del rows[k][j]


def _cut_end(rng, rows, k, j):
    del rows[k][-int(rng.integers(1, 3)) :]


def _more(rng, rows, k, j):
    rows[k].insert(j, str(rng.choice(CELLS)))


def _written(rng, rows, k, j):
    rows[k][j] = str(rng.choice(CELLS))


def _head(rng, rows, k, j):
    rows[0][int(rng.integers(len(rows[0])))] = str(rng.choice(rows[0])) if rng.random() < 0.7 else str(rng.choice(CELLS))


def _twice(rng, rows, k, j):
    """One more column of a name that is there, with other cells."""
    for n, row in enumerate(rows):
        row.insert(len(row), row[min(j, len(row) - 1)] if n == 0 else str(rng.integers(100)))


def _exchanged(rng, rows, k, j):
    other = int(rng.integers(len(rows[0])))
    for row in rows:
        if max(j, other) < len(row):
            row[j], row[other] = row[other], row[j]


def _line_twice(rng, rows, k, j):
    rows.insert(int(rng.integers(len(rows) + 1)), list(rows[k]))


def _line_gone(rng, rows, k, j):
    del rows[k]


def _blank(rng, rows, k, j):
    rows.insert(k, [str(rng.choice(["", " ", "\t", "#", '""']))])


def _quoted(rng, rows, k, j):
    rows[k][j] = '"' + rows[k][j] + '"' * int(rng.random() < 0.8)


def _padded(rng, rows, k, j):
    rows[k][j] = str(rng.choice([" ", "\t", "\u00a0", ""])) + rows[k][j] + str(rng.choice([" ", "\t", "\v"]))


OF_ROWS = (
    _written, _written, _written, _written, _cut, _cut_end, _more, _head, _twice, _exchanged, _line_twice, _line_gone, _blank,
    _quoted, _padded,
)  # fmt: skip


def _of_bytes(rng, data):
    """The file as a whole: ends of lines, its beginning and end, single bytes, compression."""
    kind, at = int(rng.integers(14)), int(rng.integers(len(data) + 1))
    if kind < 4:
        ends = (b"\r\n", b"\r", b"\n\r", b"\n\n")
        return data.replace(b"\n", ends[kind])
    if kind == 4:
        return data.replace(b"\n", b"\r", 1 + int(rng.integers(3)))
    if kind == 5:
        return data[:at]
    if kind == 6:
        return data[:at] + bytes([int(rng.integers(256))]) + data[at + 1 :]
    if kind == 7:
        return (b"\n", b"", b"\r", b" ", b"\n\n\n", b"\0\0", b'"', b",", b"\xef\xbb\xbf", b"[]", b"{}", b"[", b"null", b"1")[
            int(rng.integers(14))
        ]
    if kind == 8:
        return b"\xef\xbb\xbf" * int(rng.integers(1, 3)) + data
    if kind == 9:
        return data.decode("utf-8", "replace").encode(str(rng.choice(["utf-16", "utf-16-le", "utf-32"])))
    if kind == 10:
        return data.replace(b",", (b";", b"\t", b"|", b", ", b" ,")[int(rng.integers(5))])
    if kind == 11:
        packed = gzip.compress(data, mtime=0)
        at = int(rng.integers(len(packed) + 1))
        return (packed, packed[:at], packed[:at] + b"x" + packed[at + 1 :])[int(rng.integers(3))]
    if kind == 12:
        return data[:at] + b"\xff" + data[at:]
    return data.rstrip(b"\n")


def spoiled_table(rng, data):
    """A CSV file with one to three mutations."""
    rows = [line.split(",") for line in data.decode().splitlines()]
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        k = int(rng.integers(len(rows)))
        j = int(rng.integers(max(len(rows[k]), 1)))
        try:
            OF_ROWS[int(rng.integers(len(OF_ROWS)))](rng, rows, k, j)
        except IndexError:  # nothing is left there to mutate
            pass
        if not rows:
            break
    data = "".join(",".join(row) + "\n" for row in rows).encode("utf-8", "surrogatepass")
    return _of_bytes(rng, data) if rng.random() < 0.25 else data


def spoiled_text(rng, data):
    """A file of JSON, XML, YAML or tabs with one to three mutations."""
    import re

    text = data.decode()
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        words = list(re.finditer(r"-?[0-9][0-9.:]*|\"[^\"\n]*\"|[A-Za-z]+|[\[\]{},:<>/=\t]", text))
        if not words:
            break
        word = words[int(rng.integers(len(words)))]
        new = (str(rng.choice(CELLS)), "", word[0] * 2, str(rng.choice(CELLS)), words[int(rng.integers(len(words)))][0], "[]", "{}", "null",
               f'"{rng.choice(CELLS)}"')[int(rng.integers(9))]  # fmt: skip
        text = text[: word.start()] + new + text[word.end() :]
    data = text.encode("utf-8", "surrogatepass")
    return _of_bytes(rng, data) if rng.random() < 0.25 else data


def generator_of(*seed):
    """A generator that depends on the seed alone."""
    return np.random.default_rng(seed)
