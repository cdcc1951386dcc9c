"""What plain LaTeX takes: a tokenizer that knows nothing of how our tables are made."""

import re

TOKEN = re.compile(
    r"""
    (?P<row>\\\\) | (?P<next>&) |
    (?P<sign>\\[&%$\#_{}]) |
    (?P<word>\\text(?:backslash|asciitilde|asciicircum|less|greater|bar)\{\}) |
    (?P<letter>\{\\fontencoding\{T1\}\\selectfont[ ]\w\}) |
    (?P<dots>\\dots\{\}) | (?P<nothing>\{\}) | (?P<wide>\\multicolumn\{2\}\{c\}\{) | (?P<end>\}) |
    (?P<formula>\$[^$&%\#~{}]*(?:\^\{-?\d+\})?\$) |
    (?P<plain>[^\\&%$\#_{}~^<>|])
    """,
    re.VERBOSE | re.DOTALL,
)
RULES = (r"\hline", r"\toprule", r"\midrule", r"\bottomrule")
FORM = re.compile(r"\\begin\{tabular\}\{((?:l|r|r@\{\$\{\}\\pm\{\}\$\})+)\}")


def assert_plain(table):
    """The cells of each row of a tabular; an error where LaTeX would read a name as markup."""
    first, *lines, last = table.splitlines()
    form = FORM.fullmatch(first)
    assert form, first
    width = len(re.sub(r"@\{\$\{\}\\pm\{\}\$\}", "", form[1]))
    assert last == r"\end{tabular}"
    rows = [_cells(line) for line in lines if line not in RULES]
    assert len(lines) == len(rows) + 3
    for row in rows:
        assert sum(span for span, _ in row) == width, row
    return [[text for _, text in row] for row in rows]


def _cells(line):
    """Columns that each cell of a row takes, and its text; two backslashes end the row, and only it."""
    assert not line.startswith(("[", "*"))
    place, cells, spans, open_braces = 0, [""], [1], 0
    while place < len(line):
        token = TOKEN.match(line, place)
        assert token, f"LaTeX would read {line[place]!r} of {line!r}"
        place, kind = token.end(), token.lastgroup
        if kind == "row":
            assert place == len(line)
            assert not open_braces
            return [(span, cell.strip()) for span, cell in zip(spans, cells, strict=True)]
        if kind == "next":
            assert not open_braces
            cells.append("")
            spans.append(1)
        elif kind == "wide":
            spans[-1], open_braces = 2, 1
        elif kind == "end":
            assert open_braces == 1
            open_braces = 0
        else:
            assert kind != "plain" or token[0].isprintable()
            cells[-1] += token[0]
    raise AssertionError(f"a row without an end: {line!r}")
