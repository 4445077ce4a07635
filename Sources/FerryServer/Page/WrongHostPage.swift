import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import HummingbirdCore

/// The page for a browser that asked for the page under another host: a forwarded port of another number, a name of this
/// machine. Constant but for the port: nothing of the request is in it.
enum WrongHostPage {
    /// Returns the page if a browser opens the front page; `nil` for every other request, which gets the problem.
    static func answer(_ request: Request, _ path: Substring, port: Int) -> Response? {
        guard path == "/", request.method == .get, request.headers[.accept]?.utf8.contains("text/html") == true else {
            return nil
        }
        return Answer.body(
            Data(text(port: port).utf8), type: "text/html; charset=utf-8",
            status: HTTPResponse.Status(code: Problem(.misdirected).status))
    }

    private static func text(port: Int) -> String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark"><title>Ferry</title></head><body>
        <h1>Ferry</h1>
        <p>This page answers at <a href="http://127.0.0.1:\(port)/">http://127.0.0.1:\(port)/</a> alone.</p>
        <p>From another machine, forward the same port there, then open that address:</p>
        <pre>ssh -L \(port):127.0.0.1:\(port) HOST</pre>
        <div lang="zh-Hans">
        <p>此页面只能通过 <a href="http://127.0.0.1:\(port)/">http://127.0.0.1:\(port)/</a> 访问。</p>
        <p>从另一台设备访问时，请在那台设备上用上面的命令转发同一端口，再打开这个地址。</p>
        </div></body></html>

        """
    }
}
