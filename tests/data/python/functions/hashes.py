import hashlib
import hmac


def sign(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


assert sign(b"k", "text") == sign(b"k", "text") != sign(b"k2", "text")
assert hashlib.md5(b"").hexdigest() == "d41d8cd98f00b204e9800998ecf8427e"
