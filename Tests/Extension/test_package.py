"""The packages: the same bytes each time, the identifier that the host knows, texts in both languages."""

import base64
import hashlib
import json
import re
import subprocess
import unittest
import zipfile

from stage import CHROMIUM_ID, GECKO_ID, ROOT, SOURCE


class Package(unittest.TestCase):
    def pack(self):
        subprocess.run([ROOT / "Scripts" / "pack-extension"], check=True, stdout=subprocess.DEVNULL)
        folder = ROOT / ".build" / "extension"
        return {path.name: path.read_bytes() for path in (folder / "ferry-chromium.zip", folder / "ferry-firefox.xpi")}

    def test_packages_are_the_same_each_time_and_have_every_file(self):
        first = self.pack()
        for path in SOURCE.rglob("*.js"):
            path.touch()
        self.assertEqual(first, self.pack())
        names = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if path.is_file()}
        for package in first:
            with zipfile.ZipFile(ROOT / ".build" / "extension" / package) as archive:
                self.assertEqual(set(archive.namelist()), names)
                manifest = json.loads(archive.read("manifest.json"))
            if package.endswith(".zip"):
                key = base64.b64decode(manifest["key"])
                letters = "".join(chr(97 + int(digit, 16)) for digit in hashlib.sha256(key).hexdigest()[:32])
                self.assertEqual(letters, CHROMIUM_ID)
                self.assertEqual(set(manifest["background"]), {"service_worker", "type"})
                self.assertNotIn("browser_specific_settings", manifest)
            else:
                self.assertEqual(manifest["browser_specific_settings"]["gecko"]["id"], GECKO_ID)
                self.assertEqual(set(manifest["background"]), {"scripts", "type"})
                self.assertNotIn("key", manifest)

    def test_every_text_is_in_both_languages_and_every_one_is_used(self):
        tables = [json.loads((SOURCE / "_locales" / name / "messages.json").read_text()) for name in ("en", "zh_CN")]
        self.assertEqual(*(set(table) for table in tables))
        sources = "".join(path.read_text() for path in SOURCE.glob("*.*") if path.suffix in (".js", ".html", ".json"))
        named = set(re.findall(r"text\('(\w+)'", sources)) | set(re.findall(r'data-text="(\w+)"', sources))
        named |= set(re.findall(r"__MSG_(\w+)__", sources)) | set(re.findall(r"button\('(\w+)'", sources))
        named |= {f"menu_{entry}" for entry in ("link", "media", "selection", "page")}
        named |= {name for name in tables[0] if name.startswith("state_")}
        self.assertEqual(named, set(tables[0]))
        for key in tables[0]:
            holes = [sorted(re.findall(r"\$\d", table[key]["message"])) for table in tables]
            self.assertEqual(*holes, key)
