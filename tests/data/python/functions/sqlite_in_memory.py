import sqlite3


def top_scores(rows: list[tuple[str, int]], n: int) -> list[tuple[str, int]]:
    with sqlite3.connect(":memory:") as db:
        db.execute("create table scores (who text, n integer)")
        db.executemany("insert into scores values (?, ?)", rows)
        return db.execute("select who, sum(n) from scores group by who order by 2 desc limit ?", (n,)).fetchall()


assert top_scores([("a", 1), ("b", 5), ("a", 3)], 1) == [("b", 5)]
