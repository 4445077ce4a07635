import Ferry
import FerryCore
import FerryTerminal
import Testing

@Suite("ErrorText") struct ErrorTextTests {
    @Test("ErrorText: an error is one line with its cause, its suggestion and the command, escaped")
    func line() {
        let error = DownloadError(
            .network, "no way to h", suggestion: "Try again later.", underlying: "Connection\nrefused")
        #expect(ErrorText.line(error, name: "f.iso") == "f.iso: no way to h: Connection\\nrefused; try again later")
        let link = DownloadError(.freshLink, "the link is dead")
        let line = ErrorText.line(link, name: "a\u{1B}.iso", command: "ferry get a.part NEWURL")
        #expect(line == "a\\x1b.iso: the link is dead; to resume: ferry get a.part NEWURL")
    }

    @Test("ErrorText: a conflict without a suggestion names --on-conflict")
    func conflict() {
        let line = ErrorText.line(DownloadError(.conflict, "/d/f is there already"), name: "f")
        #expect(line.hasPrefix("/d/f is there already; "))
        #expect(line.contains("--on-conflict"))
    }

    @Test("ErrorText: a file in use has the advice -o only if a URL was given")
    func inUse() {
        let error = DownloadError(
            .conflict, ErrorPhrase(.inUse, "/d/f"), suggestion: ErrorPhrase(.waitForOther), recovery: .needsUser)
        let url = ErrorText.advised(error, for: .directory("/d"))
        #expect(ErrorText.line(url, name: "f").hasSuffix("or choose another name with -o"))
        let part = ErrorText.advised(error, for: .part("/d/f.part"))
        #expect(ErrorText.line(part, name: "f").hasSuffix("then run it again"))
    }

    @Test("ErrorText: a silent daemon gets the advice to start it, and one that could not be started does not")
    func daemon() {
        let silent = DownloadError(.daemonUnavailable, ErrorPhrase(.daemonSilent, "/run/s"))
        #expect(
            ErrorText.line(silent, name: "")
                == "the daemon does not answer at /run/s; ferry add starts it, as does ferry serve")
        let broken = DownloadError(.daemonUnavailable, ErrorPhrase(.daemonNotStarted, "/bin/ferry", "exit 1"))
        #expect(
            ErrorText.line(broken, name: "") == "/bin/ferry could not be started as the daemon: exit 1")
    }

    @Test(
        "ErrorText: the file is named unless the message contains its name as a whole",
        arguments: [
            ("c", "the file does not have its checksum", "c: the file does not have its checksum"),
            ("file", "the file is larger", "file: the file is larger"),
            ("f", "cannot create /d/foo: no space", "f: cannot create /d/foo: no space"),
            ("f", "cannot create /d/f: no space", "cannot create /d/f: no space"),
            ("f", "/d/foo and /d/f", "/d/foo and /d/f"),
            ("f", "cannot write /d/f.part: no space", "cannot write /d/f.part: no space"),
            ("http://h/f", "http://h/f answered 404", "http://h/f answered 404"),
            ("", "no name", "no name"),
        ])
    func naming(name: String, message: String, line: String) {
        #expect(ErrorText.line(DownloadError(.disk, message), name: name) == line)
    }

    @Test(
        "ErrorText: the command goes on with the part file as one word, else with the URL if it was shown whole",
        arguments: [
            (.freshLink, "/d/a b.part", "u", "ferry get '/d/a b.part' NEWURL"),
            (.freshLink, "/d/x'\u{301};touch ran;.part", nil, "ferry get '/d/x'\\''\u{301};touch ran;.part' NEWURL"),
            (.freshLink, nil, "u", "ferry get NEWURL"), (.credentials, "a.part", "u", "ferry get --user USER a.part"),
            (.credentials, nil, "http://h/f", "ferry get --user USER http://h/f"),
            // With its query hidden, the printed URL could not be used.
            (.credentials, nil, "http://h/f?…", "ferry get --user USER URL"),
            (.credentials, "/d/f.part", nil, "ferry get --user USER /d/f.part"), (.network, "a.part", "u", nil),
        ] as [(DownloadError.Code, String?, String?, String?)])
    func command(code: DownloadError.Code, part: String?, url: String?, expected: String?) {
        let command = ErrorText.command(after: DownloadError(code, "x"), part: part, url: url)
        #expect(command.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }

    @Test("ErrorText: where no password helps, the command after missing credentials has a header")
    func header() {
        let reason = Reason(.serverAnsweredFor, "401", "bearer")
        let error = DownloadError.deadLink(reason, status: 401, holdsBytes: false)
        #expect(
            ErrorText.command(after: error, part: nil, url: "http://h/f")
                == "ferry get -H 'Authorization: …' http://h/f")
        #expect(
            ErrorText.command(after: error, part: "/d/f.part", url: nil)
                == "ferry get -H 'Authorization: …' /d/f.part")
    }

    @Test("ErrorText: a private address suggests the option of ferry get there, and of the others elsewhere")
    func place() {
        let error = DownloadError(
            .refused, ErrorPhrase(.privateAddress, "h"), suggestion: ErrorPhrase(.allowPrivate), recovery: .permanent)
        let line = ErrorText.line(ErrorText.advised(error, for: .directory("/d")), name: "")
        #expect(line.hasSuffix("; if this address is intended, leave out --no-private"), "\(line)")
        let worker = ErrorText.line(error, name: "")
        #expect(worker.contains("--allow-private") && !worker.contains("--no-private"), "\(worker)")
    }

    @Test(
        "ErrorText: the command after a failure has the options of the one that failed, without credentials and secrets"
    )
    func options() {
        let words = [
            "http://h/f", "-d", "a dir", "-o", "my name.bin", "--limit-rate", "5M", "-u", "me:pw", "-H", "A: secret",
        ]
        let options = GivenOptions.text(words, items: ["http://h/f"])
        #expect(options == "-d 'a dir' -o 'my name.bin' --limit-rate 5M -H …")
        let error = DownloadError(.credentials, "401")
        #expect(
            ErrorText.command(after: error, part: nil, url: "http://h/f", options: options)
                == "ferry get --user USER \(options) http://h/f")
        let link = DownloadError(.freshLink, "dead")
        #expect(ErrorText.command(after: link, part: nil, url: nil, options: "-d x") == "ferry get -d x NEWURL")
        #expect(GivenOptions.text(["--fail-when-refused", "-d", "x", "a"], items: ["a"]) == "-d x")
        #expect(GivenOptions.text(["a", "-d", "x", "b"], items: ["a", "b"]) == "")
    }

    @Test("ErrorText: after a sign-in page the same command goes on, so that none with another link is printed")
    func page() {
        let error = DownloadError(.freshLink, ErrorPhrase(.pageInstead), recovery: .needsUser)
            .suggesting(ErrorPhrase(.signInAgain))
        #expect(ErrorText.command(after: error, part: "/d/f.part", url: nil) == nil)
        #expect(
            ErrorText.line(error, name: "f").contains(
                "; get past the page in a browser and run it again; after a login there give its cookies"))
    }

    @Test("ErrorText: digests that begin alike are shown whole")
    func alike() {
        let digest = "sha-256=" + String(repeating: "0", count: 63)
        let error = DownloadError(.checksum, ErrorPhrase(.wrongDigest, digest + "1", digest + "2"))
        let line = ErrorText.line(error, name: "a")
        #expect(line.contains(digest + "1, ") && line.contains(digest + "2"), "\(line)")
    }

    @Test("ErrorText: a checksum mismatch has at most two lines of 80 columns")
    func mismatch() {
        let digest = "sha-256=" + String(repeating: "0123456789abcdef", count: 4)
        let error = DownloadError(
            .checksum, ErrorPhrase(.wrongDigest, "\(digest)", "\(digest)"),
            suggestion: ErrorPhrase(.keptMarked, "large.iso.part"), recovery: .needsUser)
        let line = "ferry: " + ErrorText.line(error, name: "large.iso")
        #expect(line.count <= 160, "\(line.count): \(line)")
    }
}
