"""A PNG as sixels, for terminals that draw those. Runs in a sandbox: the picture is somebody else's."""
import struct
import sys
import zlib

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_MAX_PIXELS = 4 << 20
_LEVELS = 6  # of each colour: 216 in all


def _chunks(png):
    if png[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("not a PNG")
    at = 8
    while at + 8 <= len(png):
        length, name = struct.unpack(">I4s", png[at:at + 8])
        yield name, png[at + 8:at + 8 + length]
        at += 12 + length


def _unfilter(kind, line, above, step):
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        if kind == 1:
            line[i] = (line[i] + left) & 255
        elif kind == 2:
            line[i] = (line[i] + above[i]) & 255
        elif kind == 3:
            line[i] = (line[i] + (left + above[i]) // 2) & 255
        elif kind == 4:
            corner = above[i - step] if i >= step else 0
            guess = left + above[i] - corner
            near = min((abs(guess - left), 0, left), (abs(guess - above[i]), 1, above[i]),
                       (abs(guess - corner), 2, corner))
            line[i] = (line[i] + near[2]) & 255


def _lines(png):
    """Width, colour type, palette, and each line's bytes."""
    data, palette, head = b"", b"", None
    for name, body in _chunks(png):
        if name == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        elif name == b"PLTE":
            palette = body
        elif name == b"IDAT":
            data += body
    width, height, depth, colour, _, _, interlaced = head
    if depth != 8 or interlaced or colour not in _CHANNELS or width * height > _MAX_PIXELS:
        raise ValueError("a PNG of a kind that is not drawn here")
    step = _CHANNELS[colour]
    size = width * step
    raw = zlib.decompressobj().decompress(data, (size + 1) * height)
    above, lines = bytearray(size), []
    for y in range(height):
        start = y * (size + 1)
        line = bytearray(raw[start + 1:start + 1 + size])
        _unfilter(raw[start], line, above, step)
        lines.append(line)
        above = line
    return width, colour, palette, lines


def _pixels(line, width, colour, palette):
    """Each pixel's number in a cube of colours, on white."""
    def number(red, green, blue, alpha=255):
        red, green, blue = (255 - (255 - part) * alpha // 255 for part in (red, green, blue))
        return (red * (_LEVELS - 1) + 127) // 255 * 36 + (green * (_LEVELS - 1) + 127) // 255 * 6 + (
            blue * (_LEVELS - 1) + 127) // 255
    step, known, out = _CHANNELS[colour], {}, []
    for x in range(width):
        pixel = bytes(line[x * step:(x + 1) * step])
        if pixel not in known:
            if colour == 3:
                parts = palette[pixel[0] * 3:pixel[0] * 3 + 3]
            elif colour in (0, 4):
                parts = (pixel[0], pixel[0], pixel[0], *pixel[1:])
            else:
                parts = pixel
            known[pixel] = number(*parts)
        out.append(known[pixel])
    return out


def _runs(bits):
    """Sixels of one colour, with those that repeat counted."""
    out, at = [], 0
    while at < len(bits):
        end = at
        while end < len(bits) and bits[end] == bits[at]:
            end += 1
        letter = chr(63 + bits[at])
        out.append(f"!{end - at}{letter}" if end - at > 3 else letter * (end - at))
        at = end
    return "".join(out)


def sixels(png):
    width, colour, palette, lines = _lines(png)
    out = [f'"1;1;{width};{len(lines)}']
    for n in range(_LEVELS ** 3):
        parts = (n // 36, n // 6 % 6, n % 6)
        out.append(f"#{n};2;" + ";".join(str(part * 100 // (_LEVELS - 1)) for part in parts))
    for top in range(0, len(lines), 6):
        bands = {}
        for row, line in enumerate(lines[top:top + 6]):
            for x, n in enumerate(_pixels(line, width, colour, palette)):
                if n not in bands:
                    bands[n] = bytearray(width)
                bands[n][x] |= 1 << row
        out.append("$".join(f"#{n}{_runs(bits)}" for n, bits in bands.items()) + "-")
    return "".join(out)


with open("/box/picture.png", "rb") as picture:
    sys.stdout.write(sixels(picture.read()))
