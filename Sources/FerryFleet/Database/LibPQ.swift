import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The functions of libpq, PostgreSQL's client library. The library is opened for the first connection, because only the commands
/// of a fleet need it.
///
/// The declarations match `libpq-fe.h`, whose interface in version 5 has not changed since 2005. A `PGconn` and a `PGresult` are
/// opaque.
struct LibPQ: Sendable {
    typealias Text = UnsafePointer<CChar>
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>

    let connect: @convention(c) @Sendable (Texts?, Texts?, Int32) -> OpaquePointer?
    let finish: @convention(c) @Sendable (OpaquePointer?) -> Void
    let status: @convention(c) @Sendable (OpaquePointer?) -> Int32
    /// Whether the server requested a password and none was given.
    let needsPassword: @convention(c) @Sendable (OpaquePointer?) -> Int32
    let usedPassword: @convention(c) @Sendable (OpaquePointer?) -> Int32
    let errorMessage: @convention(c) @Sendable (OpaquePointer?) -> Text?
    let socket: @convention(c) @Sendable (OpaquePointer?) -> Int32
    /// Called without types, lengths and formats: the parameters are strings, and the statement determines their types.
    let execute:
        @convention(c) @Sendable (
            OpaquePointer?, Text?, Int32, UnsafeRawPointer?, Texts?, UnsafeRawPointer?, UnsafeRawPointer?, Int32
        ) -> OpaquePointer?
    let resultStatus: @convention(c) @Sendable (OpaquePointer?) -> Int32
    let resultField: @convention(c) @Sendable (OpaquePointer?, Int32) -> Text?
    let rowCount: @convention(c) @Sendable (OpaquePointer?) -> Int32
    let columnCount: @convention(c) @Sendable (OpaquePointer?) -> Int32
    let value: @convention(c) @Sendable (OpaquePointer?, Int32, Int32) -> UnsafePointer<UInt8>?
    let length: @convention(c) @Sendable (OpaquePointer?, Int32, Int32) -> Int32
    let isNull: @convention(c) @Sendable (OpaquePointer?, Int32, Int32) -> Int32
    let clear: @convention(c) @Sendable (OpaquePointer?) -> Void
    let putCopyData: @convention(c) @Sendable (OpaquePointer?, UnsafePointer<UInt8>?, Int32) -> Int32
    let putCopyEnd: @convention(c) @Sendable (OpaquePointer?, Text?) -> Int32
    let nextResult: @convention(c) @Sendable (OpaquePointer?) -> OpaquePointer?
    let consumeInput: @convention(c) @Sendable (OpaquePointer?) -> Int32
    let nextNotification: @convention(c) @Sendable (OpaquePointer?) -> UnsafeMutableRawPointer?
    let free: @convention(c) @Sendable (UnsafeMutableRawPointer?) -> Void
    let setNoticeReceiver:
        @convention(c) @Sendable (
            OpaquePointer?, (@convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void)?,
            UnsafeMutableRawPointer?
        ) -> OpaquePointer?
    let parse: @convention(c) @Sendable (Text?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> OpaquePointer?
    let freeOptions: @convention(c) @Sendable (OpaquePointer?) -> Void

    /// `CONNECTION_OK`.
    static let connected: Int32 = 0
    /// Values of `ExecStatusType`.
    static let commandOK: Int32 = 1
    static let tuplesOK: Int32 = 2
    static let copyIn: Int32 = 4
    /// `PG_DIAG_SQLSTATE` and `PG_DIAG_MESSAGE_PRIMARY`.
    static let stateField = Int32(UInt8(ascii: "C"))
    static let messageField = Int32(UInt8(ascii: "M"))

    static let shared = load()

    private static let names = ["libpq.so.5", "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib"]

    private static func load() -> Result<LibPQ, DatabaseError> {
        guard let handle = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            let text: Reason =
                "PostgreSQL's client library \(names[0]) is not installed (Debian: apt install libpq5, Fedora: dnf install libpq)"
            return .failure(DatabaseError(text))
        }
        do throws(DatabaseError) { return .success(try LibPQ(handle)) } catch { return .failure(error) }
    }

    private init(_ handle: UnsafeMutableRawPointer) throws(DatabaseError) {
        func function<Function>(_ name: String) throws(DatabaseError) -> Function {
            guard let address = dlsym(handle, name) else {
                throw DatabaseError("PostgreSQL's client library \(Self.names[0]) has no function \(name)")
            }
            return unsafeBitCast(address, to: Function.self)
        }
        connect = try function("PQconnectdbParams")
        finish = try function("PQfinish")
        status = try function("PQstatus")
        needsPassword = try function("PQconnectionNeedsPassword")
        usedPassword = try function("PQconnectionUsedPassword")
        errorMessage = try function("PQerrorMessage")
        socket = try function("PQsocket")
        execute = try function("PQexecParams")
        resultStatus = try function("PQresultStatus")
        resultField = try function("PQresultErrorField")
        rowCount = try function("PQntuples")
        columnCount = try function("PQnfields")
        value = try function("PQgetvalue")
        length = try function("PQgetlength")
        isNull = try function("PQgetisnull")
        clear = try function("PQclear")
        putCopyData = try function("PQputCopyData")
        putCopyEnd = try function("PQputCopyEnd")
        nextResult = try function("PQgetResult")
        consumeInput = try function("PQconsumeInput")
        nextNotification = try function("PQnotifies")
        free = try function("PQfreemem")
        setNoticeReceiver = try function("PQsetNoticeReceiver")
        parse = try function("PQconninfoParse")
        freeOptions = try function("PQconninfoFree")
    }
}
