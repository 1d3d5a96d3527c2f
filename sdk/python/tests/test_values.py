"""Values keep their types: there and back, through a real sandbox where one is needed."""

import array
import dataclasses
import datetime
import enum
import json
import math
import re
import unittest

from glovebox import RegExp, SandboxError, SerializationError
from glovebox._values import Decoder, Encoder

from .helpers import Case

UTC = datetime.timezone.utc


def again(value):
    form = json.loads(json.dumps(Encoder().form(value, "value")))
    return Decoder(form).decode(form)


class Codec(unittest.TestCase):
    def test_values_that_stay_as_they_are(self):
        for value in (None, True, False, 0, -1, 2**53, -(2**53) - 1, 2**200, 10**5000, 1.5, 1e300, "", "ä\0\ud800", b"", b"\0\xff",
                      [], [1, [2]], {}, {"a": {"b": 1}}, {"$type": 1}, {"$type": "bigint", "x": None}, {1: "a", "b": 2},
                      {None: 1}, set(), {1, "a"}, datetime.datetime(2024, 2, 29, 1, 2, 3, 456000, UTC),
                      datetime.datetime(1, 1, 1, tzinfo=UTC), array.array("d", [1.5]), array.array("i", [-1, 2])):
            with self.subTest(value=value):
                got = again(value)
                self.assertEqual(got, value)
                self.assertIs(type(got), type(value))

    def test_special_floats(self):
        self.assertTrue(math.isnan(again(math.nan)))
        self.assertEqual(again(-math.inf), -math.inf)
        self.assertEqual(math.copysign(1, again(-0.0)), -1)
        self.assertIs(type(again(2.0)), float)

    def test_types_that_change(self):
        self.assertEqual(again((1, 2)), [1, 2])
        self.assertEqual(again(range(3)), [0, 1, 2])
        self.assertEqual(again(frozenset({1})), {1})
        self.assertEqual(again(bytearray(b"x")), b"x")
        self.assertEqual(again(array.array("B", [1])), b"\x01")
        self.assertEqual(again(re.compile("a+", re.I)), RegExp("a+", "i"))
        self.assertEqual(again({(1, 2): "x"}), {(1, 2): "x"})

    def test_one_object_stays_one_object(self):
        shared = [1]
        got = again({"a": shared, "b": shared})
        self.assertIs(got["a"], got["b"])
        loop = []
        loop.append(loop)
        got = again(loop)
        self.assertIs(got[0], got)
        table = {}
        table["self"] = table
        got = again(table)
        self.assertIs(got["self"], got)

    def test_errors_with_their_causes(self):
        try:
            try:
                raise KeyError("inner")
            except KeyError as inner:
                raise ValueError("outer") from inner
        except ValueError as error:
            got = again(error)
        self.assertIsInstance(got, SandboxError)
        self.assertEqual((got.name, got.message, got.__cause__.name), ("ValueError", "outer", "KeyError"))

    def test_values_that_cannot_cross_are_named_with_their_place(self):
        @dataclasses.dataclass
        class Point:
            x: int

        class Color(enum.Enum):
            RED = 1

        class Plain:
            pass

        for value, path, why in (
            ({"a": [1, Plain()]}, "v.a[1]", "an instance of Plain"), ([Point(1)], "v[0]", "asdict"),
            ({"c": Color.RED}, "v.c", "its value"), (datetime.datetime(2020, 1, 1), "v", "time zone"),
            (datetime.date(2020, 1, 1), "v", "datetime"), (Plain, "v", "the class Plain"), (1j, "v", "complex"),
            (print, "v", "a function cannot cross here"), ({"odd key": Plain()}, "v['odd key']", "Plain"),
        ):
            with self.subTest(value=value):
                with self.assertRaises(SerializationError) as caught:
                    Encoder().form(value, "v")
                self.assertEqual(caught.exception.path, path)
                self.assertIn(why, str(caught.exception))

    def test_deep_values_are_refused(self):
        deep = []
        for _ in range(1000):
            deep = [deep]
        with self.assertRaises(SerializationError):
            Encoder().form(deep, "v")


class Sandbox(Case):
    def test_values_through_a_sandbox(self):
        for value in (None, 5, 2**70, 1.5, "ä", b"ab", [1, [None]], {"a": 1}, {1: 2}, {1, 2},
                      datetime.datetime(2024, 1, 2, 3, 4, 5, 678000, UTC)):
            with self.subTest(value=value):
                self.assertEqual(self.box.run_code("export default v", globals={"v": value}, check=True).result, value)

    def test_values_of_python_in_the_sandbox(self):
        result = self.box.run("{'a': (1, 2), 'b': b'x', 'c': {1, 2}, 'd': 2**70, 'e': {1: 2}}", language="python")
        self.assertEqual(result.result, {"a": [1, 2], "b": b"x", "c": {1, 2}, "d": 2**70, "e": {1: 2}})

    def test_a_whole_float_stays_a_float(self):
        result = self.box.run("[4 / 2, 4 // 2, -0.0]", language="python", check=True).result
        self.assertEqual([type(value) for value in result], [float, int, float])
        with self.box.open_session(language="python") as session:
            kind = session.execute("def kind(x): return type(x).__name__", check=True)
            self.assertEqual(session.execute("", fn="kind", args=[2.0], check=True).result, "float")
            self.assertEqual(session.execute("", fn="kind", args=[2], check=True).result, "int", kind)

    def test_an_object_given_twice_is_one_object(self):
        shared = {"n": 1}
        result = self.box.run_code("export default (a, b) => a === b && a === g", args=[shared, shared], globals={"g": shared})
        # Arguments and globals of one message share an encoder.
        self.assertIs(result.result, True)
