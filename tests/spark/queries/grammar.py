"""Random queries over given tables, composed out of each other.

Every column of every query has a name of its own, so that names never clash; where an order shows (LIMIT, row
numbers), it is by all columns, so that rows that tie are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.spark.queries.programs import Table, literal

Columns = Mapping[str, str]
NUMBERS = ("int", "bigint", "decimal(10,2)", "double")
LITERAL = {"bigint": "int"}


@dataclass(frozen=True)
class Query:
    sql: str
    columns: Columns


class Grammar:
    def __init__(self, rng: Random, tables: Sequence[Table]):
        self.rng = rng
        self.tables = tables
        self._number = 0

    def name(self, stem: str = "x") -> str:
        self._number += 1
        return f"{stem}{self._number}"

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    # expressions

    def value(self, data_type: str) -> str:
        return (
            literal(self.rng, LITERAL.get(data_type, data_type), 0.05)
            if data_type in _KNOWN
            else f"cast(null as {data_type})"
        )

    def of_type(self, columns: Columns, *types: str) -> list[str]:
        return [name for name, data_type in columns.items() if data_type in types]

    def predicate(self, columns: Columns, depth: int = 1) -> str:
        if depth and self.chance(0.35):
            a, b = (self.predicate(columns, depth - 1) for _ in range(2))
            return self.rng.choice((f"({a} and {b})", f"({a} or {b})", f"not ({a})"))
        name, data_type = self.rng.choice(list(columns.items()))
        peers = [other for other in self.of_type(columns, data_type) if other != name]
        other = self.rng.choice(peers) if peers and self.chance(0.4) else self.value(data_type)
        forms = [
            f"{name} is null",
            f"{name} is not null",
            f"{name} {self.rng.choice(('=', '<>', '<', '>=', '<=>'))} {other}",
        ]
        return self.rng.choice([*forms, forms[-1], f"{name} in ({self.value(data_type)}, {self.value(data_type)})"])

    def expression(self, columns: Columns) -> tuple[str, str]:
        """(SQL, type)"""
        name, data_type = self.rng.choice(list(columns.items()))
        made = [
            (name, data_type),
            (name, data_type),
            (f"coalesce({name}, {self.value(data_type)})", data_type),
            (f"case when {self.predicate(columns)} then {name} end", data_type),
        ]
        if data_type == "int":
            made += [(f"{name} + 1", "int"), (f"{name} % 2", "int"), (f"cast({name} as bigint)", "bigint")]
        elif data_type == "string":
            made += [(f"upper({name})", "string"), (f"length({name})", "int"), (f"concat({name}, '!')", "string")]
        elif data_type.startswith("struct"):
            made += [(f"{name}.a", "int"), (f"{name}.b", "string")]
        elif data_type == "array<int>":
            made += [(f"size({name})", "int"), (f"get({name}, 0)", "int")]
        elif data_type.startswith("timestamp"):
            made += [(f"cast({name} as date)", "date"), (f"hour({name})", "int")]
        elif data_type == "binary":
            made += [(f"hex({name})", "string"), (f"length({name})", "int")]
        elif data_type == "date":
            made += [(f"year({name})", "int"), (f"date_add({name}, 1)", "date")]
        return self.rng.choice(made)

    def items(self, columns: Columns, most: int = 4) -> tuple[str, Columns]:
        """A select list and what it gives."""
        made = [(self.name(), *self.expression(columns)) for _ in range(self.rng.randint(1, most))]
        return ", ".join(f"{sql} as {name}" for name, sql, _ in made), {name: data_type for name, _, data_type in made}

    # queries

    def query(self, depth: int) -> Query:
        if depth == 0:
            return self.scan()
        return self.rng.choice(PRODUCTIONS)(self, depth - 1)

    def scan(self) -> Query:
        table = self.rng.choice(self.tables)
        kept = [name for name in table.columns if name in ("id", "k") or self.chance(0.7)]
        renamed = {self.name(): name for name in kept}
        where = f" where {self.predicate(table.columns)}" if self.chance(0.3) else ""
        sql = f"select {', '.join(f'{old} as {new}' for new, old in renamed.items())} from {table.name}{where}"
        return Query(sql, {new: table.columns[old] for new, old in renamed.items()})

    def part(self, query: Query) -> str:
        return f"({query.sql}) {self.name('q')}"

    def aligned(self, query: Query, types: Sequence[str]) -> Query:
        """The query's columns made to be of the types, missing ones made up."""
        free = dict(query.columns)
        items, columns = [], {}
        for data_type in types:
            found = next((name for name, known in free.items() if known == data_type), None)
            free.pop(found or "", None)
            new = self.name()
            items.append(f"{found or self.value(data_type)} as {new}")
            columns[new] = data_type
        return Query(f"select {', '.join(items)} from {self.part(query)}", columns)


_KNOWN = frozenset(
    (
        *("int", "bigint", "string", "decimal(10,2)", "date", "double", "boolean", "array<int>"),
        *("struct<a:int,b:string>", "timestamp", "timestamp_ntz", "binary"),
    )
)


def project(g: Grammar, depth: int) -> Query:
    source = g.query(depth)
    items, columns = g.items(source.columns)
    where = f" where {g.predicate(source.columns)}" if g.chance(0.6) else ""
    return Query(f"select {items} from {g.part(source)}{where}", columns)


def equality(g: Grammar, left: Columns, right: Columns) -> str | None:
    """One between columns of one type, mostly the ints."""
    pairs = [(a, b) for a, kind in left.items() for b, other in right.items() if kind == other]
    ints = [pair for pair in pairs if left[pair[0]] == "int"]
    if not pairs:
        return None
    a, b = g.rng.choice(ints if ints and g.chance(0.7) else pairs)
    return f"{a} {'<=>' if g.chance(0.15) else '='} {b}"


def condition(g: Grammar, left: Columns, right: Columns) -> str:
    found = [equality(g, left, right)]
    if g.chance(0.25):
        found.append(equality(g, left, right))
    if g.chance(0.3):
        found.append(g.predicate({**left, **right}))
    return " and ".join(part for part in found if part) or "true"


def join(g: Grammar, depth: int) -> Query:
    left, right = g.query(depth), g.query(g.rng.randint(0, depth))
    kind = g.rng.choice(
        ("join", "join", "left join", "left join", "right join", "full join", "left semi join", "left anti join")
    )
    on = condition(g, left.columns, right.columns)
    both = left.columns if "semi" in kind or "anti" in kind else {**left.columns, **right.columns}
    items, columns = g.items(both, 5)
    where = f" where {g.predicate(both)}" if g.chance(0.2) else ""
    return Query(f"select {items} from {g.part(left)} {kind} {g.part(right)} on {on}{where}", columns)


def join_using(g: Grammar, depth: int) -> Query:
    """The right side's column gets the name of the left one."""
    left, right = g.query(depth), g.query(0)
    pairs = [(a, b) for a, kind in left.columns.items() for b, other in right.columns.items() if kind == other]
    if not pairs:
        return left
    shared, other = g.rng.choice(pairs)
    rest = {name: kind for name, kind in right.columns.items() if name != other}
    renamed = f"(select {', '.join((f'{other} as {shared}', *rest))} from {g.part(right)}) {g.name('q')}"
    kind = g.rng.choice(("join", "left join", "right join", "full join", "left semi join", "left anti join"))
    both = left.columns if "semi" in kind or "anti" in kind else {**left.columns, **rest}
    items, columns = g.items(both, 5)
    return Query(f"select {items} from {g.part(left)} {kind} {renamed} using ({shared})", columns)


def values(g: Grammar, depth: int) -> Query:
    types = g.rng.sample(sorted(_KNOWN - {"bigint"}), g.rng.randint(1, 3))
    rows = [f"({', '.join(g.value(data_type) for data_type in ('int', *types))})" for _ in range(g.rng.randint(1, 4))]
    given = [g.name() for _ in ("int", *types)]
    source = Query(
        f"select * from values {', '.join(rows)} as {g.name('v')}({', '.join(given)})",
        dict(zip(given, ("int", *types), strict=True)),
    )
    items, columns = g.items(source.columns)
    return Query(f"select {items} from {g.part(source)}", columns)


def three_way_join(g: Grammar, depth: int) -> Query:
    first, second, third = g.query(min(depth, 1)), g.query(0), g.query(0)
    sides = {**first.columns, **second.columns}
    where = [equality(g, first.columns, second.columns), equality(g, sides, third.columns)]
    items, columns = g.items({**sides, **third.columns}, 5)
    tests = " and ".join(part for part in where if part) or "true"
    return Query(
        f"select {items} from {g.part(first)}, {g.part(second)} {g.rng.choice((',', 'cross join'))} {g.part(third)} where {tests}",
        columns,
    )


def aggregates(g: Grammar, columns: Columns) -> list[tuple[str, str]]:
    found = [("count(*)", "bigint")]
    for _ in range(g.rng.randint(0, 3)):
        name, data_type = g.rng.choice(list(columns.items()))
        forms = [
            (f"count({name})", "bigint"),
            (f"count(distinct {name})", "bigint"),
            (f"min({name})", data_type),
            (f"max({name})", data_type),
        ]
        forms.append((f"count_if({g.predicate(columns)})", "bigint"))
        forms.append((f"max({name}) filter (where {g.predicate(columns)})", data_type))
        if data_type == "int":
            forms += [
                (f"sum({name})", "bigint"),
                (f"avg({name})", "double"),
                (f"sum(case when {g.predicate(columns)} then {name} end)", "bigint"),
            ]
        if data_type == "double":
            forms += [(f"sum({name})", "double")]
        if data_type == "boolean":
            forms += [(f"bool_or({name})", "boolean")]
        found.append(g.rng.choice(forms))
    return found


def grouped(g: Grammar, depth: int) -> Query:
    source = g.query(depth)
    keys = [g.expression(source.columns) for _ in range(g.rng.choice((0, 1, 1, 1, 2)))]
    made = [(g.name(), sql, data_type) for sql, data_type in (*keys, *aggregates(g, source.columns))]
    items = ", ".join(f"{sql} as {name}" for name, sql, _ in made)
    columns = {name: data_type for name, _, data_type in made}
    by = f" group by {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
    having = f" having count(*) {g.rng.choice(('> 1', '= 1', '< 3'))}" if g.chance(0.3) else ""
    return Query(f"select {items} from {g.part(source)}{by}{having}", columns)


def grouping_sets(g: Grammar, depth: int) -> Query:
    source = g.query(depth)
    keys = g.rng.sample(list(source.columns), min(2, len(source.columns)))
    form = g.rng.choice(("rollup ({})", "cube ({})", "grouping sets (({}), ())"))
    made = [(g.name(), key, source.columns[key]) for key in keys]
    made += [(g.name(), sql, data_type) for sql, data_type in aggregates(g, source.columns)]
    made.append((g.name(), "grouping_id()", "bigint"))
    items = ", ".join(f"{sql} as {name}" for name, sql, _ in made)
    return Query(
        f"select {items} from {g.part(source)} group by {form.format(', '.join(keys))}", {n: t for n, _, t in made}
    )


def distinct(g: Grammar, depth: int) -> Query:
    source = g.query(depth)
    items, columns = g.items(source.columns, 3)
    return Query(f"select distinct {items} from {g.part(source)}", columns)


def set_operation(g: Grammar, depth: int) -> Query:
    left = g.query(depth)
    types = list(left.columns.values())[:3]
    left, right = g.aligned(left, types), g.aligned(g.query(g.rng.randint(0, depth)), types)
    if g.chance(0.15):
        right = left
    operation = g.rng.choice(("union", "union all", "union all", "intersect", "intersect all", "except", "except all"))
    return Query(f"({left.sql}) {operation} ({right.sql})", left.columns)


def window(g: Grammar, depth: int) -> Query:
    source = g.query(depth)
    partition = g.expression(source.columns)[0]
    over = (
        f"over (partition by {partition} order by {', '.join(source.columns)}{{}})"
        if g.chance(0.9)
        else f"over (order by {', '.join(source.columns)}{{}})"
    )
    name, data_type = g.rng.choice(list(source.columns.items()))
    forms = [
        ("row_number()", "", "int"),
        ("rank()", "", "int"),
        (f"lag({name})", "", data_type),
        (f"lead({name}, 2)", "", data_type),
    ]
    forms += [
        ("count(*)", " rows between 1 preceding and current row", "bigint"),
        (f"max({name})", "", data_type),
        ("ntile(2)", "", "int"),
    ]
    function, frame, result = g.rng.choice(forms)
    new = g.name()
    if g.chance(0.3):
        sql = f"select {', '.join(source.columns)} from {g.part(source)} qualify row_number() {over.format('')} <= {g.rng.randint(1, 2)}"
        return Query(sql, source.columns)
    return Query(
        f"select {', '.join(source.columns)}, {function} {over.format(frame)} as {new} from {g.part(source)}",
        {**source.columns, new: result},
    )


def first_rows(g: Grammar, depth: int) -> Query:
    source = g.query(depth)
    order = ", ".join(f"{name}{g.rng.choice(('', ' desc', ' desc nulls first'))}" for name in source.columns)
    offset = f" offset {g.rng.randint(1, 3)}" if g.chance(0.3) else ""
    return Query(f"select * from {g.part(source)} order by {order} limit {g.rng.randint(1, 5)}{offset}", source.columns)


def membership(g: Grammar, depth: int) -> Query:
    """IN, NOT IN, EXISTS, NOT EXISTS: by themselves or beside something else."""
    source, inner = g.query(depth), g.query(g.rng.randint(0, depth))
    negated = g.rng.choice(("", "not "))
    pairs = [(a, b) for a, kind in source.columns.items() for b, other in inner.columns.items() if kind == other]
    if g.chance(0.5) and pairs:
        a, b = g.rng.choice(pairs)
        correlated = f" where {condition(g, source.columns, inner.columns)}" if g.chance(0.2) else ""
        test = f"{a} {negated}in (select {b} from {g.part(inner)}{correlated})"
    else:
        test = f"{negated}exists (select 1 from {g.part(inner)} where {condition(g, inner.columns, source.columns)})"
    other = g.rng.choice(
        (
            "",
            "",
            f"{g.predicate(source.columns)} and ",
            f"{g.predicate(source.columns)} or " if "exists" in test else "",
        )
    )
    return Query(f"select * from {g.part(source)} where {other}{test}", source.columns)


def scalar(g: Grammar, depth: int) -> Query:
    source, inner = g.query(depth), g.query(g.rng.randint(0, depth))
    function, data_type = g.rng.choice(aggregates(g, inner.columns))
    on = equality(g, inner.columns, source.columns)
    where = f" where {on}" if on and g.chance(0.7) else ""
    new = g.name()
    subquery = f"(select {function} from {g.part(inner)}{where})"
    if g.chance(0.3) and data_type == "bigint":
        return Query(
            f"select * from {g.part(source)} where {subquery} {g.rng.choice(('> 0', '= 0', '<> 2'))}", source.columns
        )
    return Query(
        f"select {', '.join(source.columns)}, {subquery} as {new} from {g.part(source)}",
        {**source.columns, new: data_type},
    )


def exploded(g: Grammar, depth: int) -> Query:
    source = g.query(depth)
    arrays = g.of_type(source.columns, "array<int>")
    array = g.rng.choice(arrays) if arrays else f"array({', '.join(g.of_type(source.columns, 'int')[:2]) or '1, 2'})"
    position, element = g.name(), g.name()
    made = {**source.columns, position: "int", element: "int"}
    items, columns = g.items(made)
    view = f"lateral view {g.rng.choice(('', 'outer '))}posexplode({array}) {g.name('v')} as {position}, {element}"
    return Query(f"select {items} from {g.part(source)} {view}", columns)


def with_cte(g: Grammar, depth: int) -> Query:
    source = g.query(depth)
    name, a, b = g.rng.choice((g.name("w"), g.rng.choice(g.tables).name)), g.name("q"), g.name("q")
    types = source.columns
    on = " and ".join(f"{a}.{column} = {b}.{column}" for column in g.rng.sample(list(types), 1))
    made = [(g.name(), f"{g.rng.choice((a, b))}.{column}", types[column]) for column in types]
    items = ", ".join(f"{sql} as {new}" for new, sql, _ in made)
    kind = g.rng.choice(("join", "left join"))
    return Query(
        f"with {name} as ({source.sql}) select {items} from {name} {a} {kind} {name} {b} on {on}",
        {n: t for n, _, t in made},
    )


PRODUCTIONS: tuple[Callable[[Grammar, int], Query], ...] = (
    project,
    join,
    join,
    join,
    join_using,
    three_way_join,
    values,
    grouped,
    grouped,
    grouping_sets,
    distinct,
    set_operation,
    set_operation,
    window,
    window,
    first_rows,
    membership,
    membership,
    scalar,
    exploded,
    with_cte,
)
