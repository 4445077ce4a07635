import FerryCore
public import FerryServer

/// aria2's RPC interface to the daemon's downloads, and the command line of aria2c, for programs that use aria2.
///
/// ```
/// POST /jsonrpc ─► JSONRPC ─┐                          ┌─► list, settings (DoorHost)
/// WebSocket     ─► JSONRPC ─┼─► Aria2Call ─► Aria2RPC ─┤
/// POST /rpc     ─► XMLRPC ──┘                          └─► Aria2Status, Aria2Options: values in aria2's words
/// events ─► Aria2Notifier ─► WebSockets
///
/// aria2c … ─► Aria2WordReader ─► Aria2Planner ─┬─► GetPlan ─► GetRun ─► Aria2Reporter ─► output and status of aria2c
///                                             └─► Aria2Service: a daemon with this interface (--enable-rpc)
/// ```
///
/// ``Aria2Option`` is the table of all options. No list, setting of a daemon or response can name a program to run.
///
/// The interface stores nothing besides the list: the gid of a download is computed from its identifier, and option values
/// without a corresponding property are in its `userInfo`.
public enum FerryAria2 {}

extension DoorKind {
    /// aria2's interface, if the settings specify its port. The defaults that the daemon has for the interface are values of
    /// aria2's options.
    public static let aria2 = DoorKind(settings: [.aria2Rpc, .aria2Secret, .aria2AllowedOrigins]) {
        host throws(DownloadError) in
        let settings = host.settings
        guard let port = settings.whole(.aria2Rpc) else { return nil }
        let secret = try SharedToken.read(settings.text(.aria2Secret), else: host.path(of: "aria2-secret"))
        let rpc = Aria2RPC(host: host, secret: secret)
        try rpc.setDefaults(host.defaults(of: Aria2Responder.doorName))
        return Aria2Responder(rpc, allowedOrigins: settings.texts(.aria2AllowedOrigins), port: port)
    }
}
