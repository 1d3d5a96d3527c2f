"""Rich output that is displayed rather than returned: tables, pictures, pages."""
import base64
import sys

import _glovebox

# Limits of one run. A note replaces displays beyond them.
MAX_COUNT = 100
MAX_BYTES = 32 << 20

_REPRS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
    ("_repr_javascript_", "application/javascript"),
    ("_repr_pdf_", "application/pdf"),
)


class _Shown:
    """What this run has displayed so far, and its limits."""

    def reset(self, max_count=MAX_COUNT, max_bytes=MAX_BYTES):
        self.count, self.bytes = 0, 0
        self.max_count, self.max_bytes = max_count, max_bytes


shown = _Shown()
shown.reset()


def _is_binary(media_type):
    return (media_type.startswith(("image/", "audio/", "video/")) and not media_type.endswith("+xml")
            or media_type in ("application/pdf", "application/octet-stream"))


def _as_form(media_type, data):
    """Converts to text or bytes; None if that is not possible."""
    if isinstance(data, tuple) and data:
        data = data[0]  # drop the metadata
    if isinstance(data, str):
        if _is_binary(media_type):
            try:
                return base64.b64decode(data, validate=True)
            except ValueError:
                return None
        return str(data)
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    if data is not None and (media_type.endswith("json")):
        import json
        return json.dumps(data, default=str)
    return None


def _bundle_of(value):
    has_one = hasattr(type(value), "_repr_mimebundle_")
    bundle = value._repr_mimebundle_(include=None, exclude=None) if has_one else None
    if isinstance(bundle, tuple) and bundle:
        bundle = bundle[0]
    return bundle if isinstance(bundle, dict) else {}


def forms_of(value):
    """All rich forms of an object: media type to text or bytes, without plain text."""
    if isinstance(value, type):
        return {}
    figure = _figure_form(value)
    if figure is not None:
        return {"image/png": figure}
    forms = {}
    try:
        found = dict(_bundle_of(value))
    except Exception:
        found = {}
    for name, media_type in _REPRS:
        if media_type in found or not hasattr(type(value), name):
            continue
        try:
            found[media_type] = getattr(value, name)()
        except Exception:
            pass  # skip a form that fails
    for media_type, data in found.items():
        form = _as_form(media_type, data) if isinstance(media_type, str) else None
        if form is not None:
            forms[media_type] = form
    if not forms and _is_series(value):
        forms["text/html"] = value.to_frame()._repr_html_()
    return forms


def _is_series(value):
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, getattr(pandas, "Series", ()))


def text_of(value):
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__}: its repr() raised {type(error).__name__}>"


def send(forms):
    """Send a display, or a note in its place."""
    size = sum(len(form) if isinstance(form, bytes) else len(form.encode("utf-8", "surrogatepass"))
               for form in forms.values())
    shown.count += 1
    if shown.count > shown.max_count:
        if shown.count == shown.max_count + 1:
            _glovebox.display({"text/plain": f"[more than {shown.max_count} displays: the rest is left out]"})
        return
    if shown.bytes + size > shown.max_bytes:
        kinds = ", ".join(forms)
        _glovebox.display({"text/plain": f"[{size} bytes of {kinds} left out: a run may show {shown.max_bytes} bytes]"})
        return
    shown.bytes += size
    _glovebox.display(forms)


def show(value):
    """Display one object. False if it has no form but text."""
    forms = forms_of(value)
    if not forms:
        return False
    if _is_figure(value):
        _close(value)
    forms.setdefault("text/plain", text_of(value))
    send(forms)
    return True


def display(*values, raw=False, **ignored):
    """Display each value in all its forms. With raw=True a value is a dict of media type to data."""
    for value in values:
        if raw and isinstance(value, dict):
            forms = {kind: form for kind, data in value.items() if (form := _as_form(kind, data)) is not None}
            send(forms or {"text/plain": text_of(value)})
        elif not show(value):
            send({"text/plain": value if isinstance(value, str) else text_of(value)})


# --- matplotlib

def _is_figure(value):
    figures = sys.modules.get("matplotlib.figure")
    return figures is not None and isinstance(value, figures.Figure)


def _figure_form(value):
    if not _is_figure(value):
        return None
    import io
    picture = io.BytesIO()
    value.savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()


def _close(figure):
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close(figure)


def show_figures():
    """Display and close all open figures: at plt.show() and at the end of a run."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        if figure.axes or figure.get_children()[1:]:
            show(figure)
        pyplot.close(figure)


def wrappers():
    """The most used classes of IPython.display, which mark text or bytes as a media type."""
    def make(name, method):
        def __init__(self, data=None, **ignored):
            self.data = data
        return type(name, (), {"__init__": __init__, method: lambda self: self.data, "__module__": "IPython.display"})
    return {name: make(name, method) for name, method in (
        ("HTML", "_repr_html_"), ("Markdown", "_repr_markdown_"), ("SVG", "_repr_svg_"), ("Image", "_repr_png_"),
        ("Latex", "_repr_latex_"), ("JSON", "_repr_json_"), ("Javascript", "_repr_javascript_"))}
