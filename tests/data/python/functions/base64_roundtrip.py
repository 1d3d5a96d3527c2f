import base64
import zlib


def pack(text: str) -> str:
    return base64.urlsafe_b64encode(zlib.compress(text.encode())).decode()


def unpack(packed: str) -> str:
    return zlib.decompress(base64.urlsafe_b64decode(packed)).decode()


assert unpack(pack("äöü " * 100)) == "äöü " * 100
assert len(pack("a" * 1000)) < 40
