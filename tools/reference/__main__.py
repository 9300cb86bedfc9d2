"""`make reference`: write the made parts of the reference pages anew."""

from tools.reference.pages import DOCS, made, replaced

for name, text in made().items():
    page = DOCS / name
    page.write_text(replaced(page.read_text(encoding="utf-8"), text), encoding="utf-8")
