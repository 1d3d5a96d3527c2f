import csv
import io


def totals(text: str, key: str, value: str) -> dict[str, float]:
    """The sum of one column for each value of another."""
    sums = {}
    for row in csv.DictReader(io.StringIO(text)):
        sums[row[key]] = sums.get(row[key], 0) + float(row[value])
    return sums


assert totals("who,n\nann,1\nbob,2.5\nann,3\n", "who", "n") == {"ann": 4, "bob": 2.5}
