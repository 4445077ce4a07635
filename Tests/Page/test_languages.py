"""English and Chinese: by the browser's language, and by choice."""

import re

from case import PageTest


class Chinese(PageTest):
    languages = "zh-CN,zh"

    def reads(self, identifier, state, words):
        self.browser.until_state(identifier, state)
        self.assertEqual(self.browser.text(self.browser.in_row(identifier, ".row-state")), words)

    def label(self, identifier, action):
        return self.browser.one(self.browser.button(identifier, action)).text

    def test_a_chinese_browser_gets_the_page_in_chinese(self):
        self.assertEqual(self.browser.js("return document.documentElement.lang"), "zh-Hans")
        field = self.browser.one(".add-field")
        self.assertEqual(field.get_attribute("placeholder"), "请输入下载链接")
        field.send_keys("ftp://x")
        self.assertEqual(self.browser.one(".add .field-error").text, "只支持 http 和 https 链接。")
        self.browser.write(".add-field", "x")
        self.assertEqual(self.browser.one(".add .field-error").text, "请输入有效的下载链接")
        self.assertIn("下载速度", self.browser.text(".totals"))
        self.assertRegex(self.browser.js("return document.querySelector('.toasts').ariaLabel"), r"^[\u4e00-\u9fff]+$")

    def test_states_and_buttons_have_the_words_that_users_know(self):
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        runs = self.held(name="runs.bin")
        self.reads(runs, "downloading", "下载中…")
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(runs, ".row-speed")).startswith("下载速度"), "the speed")
        self.assertEqual(self.label(runs, "pause"), "暂停")
        self.assertEqual(self.browser.one(self.browser.button(runs, "cancel")).get_attribute("title"), "取消")
        waits = self.held(name="waits.bin")
        self.reads(waits, "waiting", "等待开始")
        self.assertEqual(self.label(waits, "resume"), "开始下载")
        self.browser.press(self.browser.button(runs, "pause"))
        self.reads(runs, "paused", "已暂停")
        self.assertEqual(self.label(runs, "resume"), "继续")

    def test_ends_have_the_words_that_users_know(self):
        done = self.daemon.add(self.origin.file("10K", "done.bin"))
        self.reads(done, "completed", "下载完成")
        self.assertEqual(
            self.browser.text(self.browser.in_row(done, ".row-reason")), f"文件已保存到: {self.daemon.downloads / 'done.bin'}")
        failed = self.daemon.add(self.origin.file("10K", "failed.bin"), checksum=f"sha-256:{'0' * 64}")
        self.reads(failed, "failed", "下载失败")
        reason = self.browser.text(self.browser.in_row(failed, ".row-reason"))
        self.assertEqual(reason, "校验和不符：文件的校验和与要求的不同")

    def test_times_and_dates_are_chinese(self):
        busy = self.daemon.add(self.busy())
        self.browser.until_state(busy, "waiting")
        self.browser.until(
            lambda: re.search(r"\d+ 分 \d\d 秒后重试", self.browser.text(self.browser.in_row(busy, ".row-reason"))), "when it tries again")
        runs = self.held(name="runs.bin")
        self.browser.until_state(runs, "downloading")
        self.browser.until(
            lambda: re.fullmatch(r"剩余 .*\d 秒", self.browser.text(self.browser.in_row(runs, ".row-left"))), "the time left")
        done = self.daemon.add(self.origin.file("10K", "done.bin"))
        self.browser.until_state(done, "completed")
        self.browser.press(self.browser.in_row(done, ".row-name"))
        facts = lambda: self.browser.text("dialog.detail .facts")
        self.browser.until(lambda: "2024年1月1日" in facts(), "the date of the server's file")
        self.assertNotIn("GMT", facts())
        self.browser.until(lambda: self.browser.text("dialog.detail .events"), "its events")
        self.assertNotRegex(self.browser.text("dialog.detail .events"), r"strong|single|weak")

    def test_every_text_is_there_in_both_languages(self):
        rows = self.browser.module(
            "later", "Object.entries(modules['sentences.js'].sentences).map(([key, row]) => [key, row.map((text) => String(text))])")
        self.assertIn("keys.title", dict(rows), "those of the second script")
        for key, texts in rows:
            self.assertEqual([bool(text) for text in texts], [True, True], key)
            holes = [sorted(set(re.findall(r"(?<!\$)\{\w+\}", text))) for text in texts if "=>" not in text]
            self.assertEqual(holes[:1], holes[-1:], key)
        values = {key: chinese for key, (_, chinese) in rows}
        for key, text in {
            "state.verifying": "正在校验", "do.start": "开始下载", "do.pause": "暂停", "do.resume": "继续", "do.cancel": "取消",
            "file.saved": "文件已保存到: {path}",
        }.items():
            self.assertEqual(values[key], text)


class Choosing(PageTest):
    def choose(self, language):
        self.browser.press(f"[name=language] option[value={language}]")

    def test_the_language_is_switched_in_place_and_kept(self):
        identifier = self.held(name="switched.bin")
        self.browser.until_state(identifier, "downloading")
        self.browser.write(".add-field", "http://localhost/typed")
        self.choose("zh")
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(identifier, ".row-state")) == "下载中…", "the row is in Chinese")
        self.assertEqual(self.browser.one(".add-field").get_attribute("value"), "http://localhost/typed")
        self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("name"), "language")
        self.assertRegex(self.browser.js("return document.querySelector('.toasts').ariaLabel"), r"^[\u4e00-\u9fff]+$")
        self.browser.driver.refresh()
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(identifier, ".row-state")) == "下载中…", "it is kept")
        self.choose("en")
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(identifier, ".row-state")) == "Downloading…", "and back")


class OtherLanguages(PageTest):
    languages = "fr-FR,fr"

    def test_others_get_english(self):
        self.assertEqual(self.browser.js("return document.documentElement.lang"), "en")
        self.assertEqual(self.browser.one(".add-field").get_attribute("placeholder"), "Enter a download link")
