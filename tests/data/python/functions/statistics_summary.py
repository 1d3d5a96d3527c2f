import statistics


def summary(numbers: list[float]) -> dict[str, float]:
    return {"mean": statistics.mean(numbers), "median": statistics.median(numbers),
            "stdev": round(statistics.stdev(numbers), 3)}


assert summary([2, 4, 4, 4, 5, 5, 7, 9]) == {"mean": 5, "median": 4.5, "stdev": 2.138}
