// The part of Foundation that Ferry and its dependencies use.
@_exported import Darwin
@_exported import Dispatch
public typealias TimeInterval = Double
public struct Date: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    var value: Double
    public init() { value = 0 }
    public init(timeIntervalSince1970: TimeInterval) { value = timeIntervalSince1970 }
    public init(timeIntervalSinceNow: TimeInterval) { value = timeIntervalSinceNow }
    public init(timeIntervalSinceReferenceDate: TimeInterval) { value = timeIntervalSinceReferenceDate }
    public var timeIntervalSince1970: TimeInterval { value }
    public var timeIntervalSinceNow: TimeInterval { value }
    public var timeIntervalSinceReferenceDate: TimeInterval { value }
    public func timeIntervalSince(_ d: Date) -> TimeInterval { value - d.value }
    public func addingTimeInterval(_ t: TimeInterval) -> Date { self }
    public static func < (a: Date, b: Date) -> Bool { a.value < b.value }
    public static func + (a: Date, b: TimeInterval) -> Date { a }
    public static func - (a: Date, b: TimeInterval) -> Date { a }
    public static var now: Date { Date() }
    public static let distantPast = Date(), distantFuture = Date()
    public var description: String { "" }
}
public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}
public protocol ContiguousBytes { func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R }
extension Array: ContiguousBytes where Element == UInt8 {}
extension Array: DataProtocol where Element == UInt8 {}
extension ArraySlice: DataProtocol where Element == UInt8 {}
public struct Data: Sendable, Hashable, Codable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection,
    DataProtocol, ContiguousBytes
{
    var bytes: [UInt8]
    public struct Base64EncodingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public struct Base64DecodingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public init() { bytes = [] }
    public init<S: Sequence>(_ s: S) where S.Element == UInt8 { bytes = Array(s) }
    public init(count: Int) { bytes = [] }
    public init(bytes: UnsafeRawPointer, count: Int) { self.bytes = [] }
    public init?(base64Encoded: String, options: Base64DecodingOptions = []) { nil }
    public init?(base64Encoded: Data, options: Base64DecodingOptions = []) { nil }

    public func base64EncodedString(options: Base64EncodingOptions = []) -> String { "" }
    public func base64EncodedData(options: Base64EncodingOptions = []) -> Data { self }
    public typealias Index = Int
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(i: Int) -> UInt8 {
        get { 0 }
        set {}
    }
    public subscript(r: Range<Int>) -> Data {
        get { self }
        set {}
    }
    public mutating func replaceSubrange<C: Collection>(_ r: Range<Int>, with c: C) where C.Element == UInt8 {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}
open class JSONDecoder: @unchecked Sendable {
    public enum DateDecodingStrategy: Sendable {
        case deferredToDate, secondsSince1970, iso8601, custom(@Sendable (_ decoder: any Decoder) throws -> Date)
    }
    public init() {}
    open var dateDecodingStrategy: DateDecodingStrategy = .deferredToDate
    open var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
}
open class JSONEncoder: @unchecked Sendable {
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let prettyPrinted = OutputFormatting(rawValue: 1), sortedKeys = OutputFormatting(rawValue: 2),
            withoutEscapingSlashes = OutputFormatting(rawValue: 4)
    }
    public enum DateEncodingStrategy: Sendable {
        case deferredToDate, secondsSince1970, iso8601, custom(@Sendable (Date, any Encoder) throws -> Void)
    }
    public init() {}
    open var outputFormatting: OutputFormatting = []
    open var dateEncodingStrategy: DateEncodingStrategy = .deferredToDate
    open var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    open func encode<T: Encodable>(_ value: T) throws -> Data { fatalError() }
}
public protocol LocalizedError: Error {
    var errorDescription: String? { get }; var failureReason: String? { get }; var recoverySuggestion: String? { get };
    var helpAnchor: String? { get }
}
extension LocalizedError {
    public var errorDescription: String? { nil }; public var failureReason: String? { nil };
    public var recoverySuggestion: String? { nil }; public var helpAnchor: String? { nil }
}
extension Error { public var localizedDescription: String { "" } }
open class ProcessInfo: @unchecked Sendable {
    public static var processInfo: ProcessInfo { fatalError() }
    open var environment: [String: String] { [:] }; open var processIdentifier: Int32 { 0 };
    open var arguments: [String] { [] }; open var hostName: String { "" }; open var activeProcessorCount: Int { 1 }
}
public struct URL: Sendable, Hashable, Codable {
    public enum DirectoryHint: Sendable { case isDirectory, notDirectory, checkFileSystem, inferFromPath }
    public init?(string: String) { nil }
    public init?(string: String, relativeTo: URL?) { nil }
    public init(filePath: String, directoryHint: DirectoryHint = .inferFromPath, relativeTo: URL? = nil) {}
    public init(fileURLWithPath: String) {}
    public var path: String { "" }; public var absoluteString: String { "" }; public var host: String? { nil };
    public var port: Int? { nil }; public var scheme: String? { nil }; public var query: String? { nil };
    public var fragment: String? { nil }; public var absoluteURL: URL { self }
    public var baseURL: URL? { nil }; public var user: String? { nil }; public var password: String? { nil }
    public func path(percentEncoded: Bool = true) -> String { "" }
    public func host(percentEncoded: Bool = true) -> String? { nil }
}
public struct URLComponents: Sendable {
    public init?(string: String) { nil }; public init?(url: URL, resolvingAgainstBaseURL: Bool) { nil };
    public var percentEncodedPath: String = ""; public var percentEncodedQuery: String?; public var url: URL? { nil }
}
open class FileManager: @unchecked Sendable {
    public static var `default`: FileManager { fatalError() }
    public enum SearchPathDirectory: UInt, Sendable {
        case applicationSupportDirectory = 14, documentDirectory = 9, cachesDirectory = 13
    }
    public struct SearchPathDomainMask: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue };
        public static let userDomainMask = SearchPathDomainMask(rawValue: 1)
    }
    open func isExecutableFile(atPath: String) -> Bool { false }
    open func fileExists(atPath: String) -> Bool { false }
    open var currentDirectoryPath: String { "" }
    open func urls(for: SearchPathDirectory, in: SearchPathDomainMask) -> [URL] { [] }
    open func createFile(atPath: String, contents: Data?) -> Bool { false }
}
public func NSHomeDirectory() -> String { "" }
open class Bundle: @unchecked Sendable {
    public class var main: Bundle { fatalError() }; open var executablePath: String? { nil };
    open var localizations: [String] { [] }; open var preferredLocalizations: [String] { [] };
    open var bundlePath: String { "" }
}
public struct Locale: Sendable, Hashable {
    public static var preferredLanguages: [String] { [] }
    public static var current: Locale { Locale(identifier: "") }
    public static var autoupdatingCurrent: Locale { Locale(identifier: "") }
    public init(identifier: String) {}
}
open class NSLock: @unchecked Sendable { public init() {}; public func lock() {}; public func unlock() {} }
public struct ProgressUserInfoKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String; public init(_ r: String) { rawValue = r };
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let fileURLKey = ProgressUserInfoKey(""), throughputKey = ProgressUserInfoKey(""),
        estimatedTimeRemainingKey = ProgressUserInfoKey("")
}
public struct ProgressKind: Hashable, RawRepresentable, Sendable {
    public let rawValue: String; public init(rawValue: String) { self.rawValue = rawValue };
    public static let file = ProgressKind(rawValue: "")
}
open class Progress: @unchecked Sendable {
    public init(totalUnitCount: Int64) { self.totalUnitCount = totalUnitCount }
    open var totalUnitCount: Int64; open var completedUnitCount: Int64 = 0; open var kind: ProgressKind?;
    open var isCancellable = false; open var isPausable = false
    open var cancellationHandler: (@Sendable () -> Void)?; open var pausingHandler: (@Sendable () -> Void)?;
    open var resumingHandler: (@Sendable () -> Void)?
    open func setUserInfoObject(_ objectOrNil: Any?, forKey key: ProgressUserInfoKey) {}
}
extension String {
    public struct Encoding: Sendable, Hashable, RawRepresentable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue };
        public static let utf8 = Encoding(rawValue: 4)
    }
    public init?(data: Data, encoding: Encoding) { nil }; public func data(using: Encoding) -> Data? { nil }
}
extension StringProtocol {
    public func addingPercentEncoding(withAllowedCharacters: CharacterSet) -> String? { nil };
    public var removingPercentEncoding: String? { nil }
}
public struct CharacterSet: Sendable {
    public static let urlPathAllowed = CharacterSet(), urlQueryAllowed = CharacterSet(), urlHostAllowed = CharacterSet()
}
public struct FileAttributeKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String; public init(rawValue: String) { self.rawValue = rawValue };
    public static let posixPermissions = FileAttributeKey(rawValue: ""), size = FileAttributeKey(rawValue: ""),
        modificationDate = FileAttributeKey(rawValue: "")
}
extension FileManager {
    public func contentsOfDirectory(atPath: String) throws -> [String] { [] }
    public func createDirectory(
        atPath: String, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
    public func removeItem(atPath: String) throws {}
    public func moveItem(atPath: String, toPath: String) throws {}
    public func contents(atPath: String) -> Data? { nil }
    public func attributesOfItem(atPath: String) throws -> [FileAttributeKey: Any] { [:] }
    public func setAttributes(_ a: [FileAttributeKey: Any], ofItemAtPath: String) throws {}
    public var temporaryDirectory: URL { fatalError() }
    public func isReadableFile(atPath: String) -> Bool { false }
    public func isWritableFile(atPath: String) -> Bool { false }
    public func destinationOfSymbolicLink(atPath: String) throws -> String { "" }
    public func changeCurrentDirectoryPath(_ p: String) -> Bool { false }
    public func fileExists(atPath: String, isDirectory: UnsafeMutablePointer<Bool>?) -> Bool { false }
    public var homeDirectoryForCurrentUser: URL { fatalError() }
}
extension String {
    public init(contentsOfFile: String, encoding: Encoding) throws { self = "" }
    public func write(toFile: String, atomically: Bool, encoding: Encoding) throws {}
}
public struct CocoaError: Error {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int; public init(rawValue: Int) { self.rawValue = rawValue }
        public static let fileNoSuchFile = Code(rawValue: 4), fileReadNoSuchFile = Code(rawValue: 260),
            fileReadNoPermission = Code(rawValue: 257), fileWriteFileExists = Code(rawValue: 516),
            fileWriteUnknown = Code(rawValue: 512)
    }
    public init(_ code: Code, userInfo: [String: Any] = [:]) {}
    public var code: Code { Code(rawValue: 0) }; public var underlying: (any Error)? { nil };
    public var localizedDescription: String { "" }
    public static let fileNoSuchFile = Code.fileNoSuchFile, fileReadNoSuchFile = Code.fileReadNoSuchFile
    public var userInfo: [String: Any] { [:] }; public var filePath: String? { nil }
}
public struct POSIXError: Error { public var code: POSIXErrorCode { fatalError() } }
public struct POSIXErrorCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32; public init(rawValue: Int32) { self.rawValue = rawValue }
}
extension Data {
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue };
        public static let atomic = WritingOptions(rawValue: 1), withoutOverwriting = WritingOptions(rawValue: 2)
    }
    public func write(to: URL, options: WritingOptions = []) throws {}
}
extension Date {
    public struct ISO8601FormatStyle: Sendable { public func format(_ d: Date) -> String { "" } }
    public func formatted(_ f: ISO8601FormatStyle) -> String { "" };
    public func formatted<F>(_ f: F) -> String where F: FormatStyle, F.FormatInput == Date, F.FormatOutput == String {
        ""
    }
}
public protocol FormatStyle: Sendable {
    associatedtype FormatInput
    associatedtype FormatOutput
    func format(_ value: FormatInput) -> FormatOutput
}
extension Date.ISO8601FormatStyle: FormatStyle {
    public typealias FormatInput = Date; public typealias FormatOutput = String
}
extension FormatStyle where Self == Date.ISO8601FormatStyle { public static var iso8601: Self { fatalError() } }
extension Data {
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let alwaysMapped = ReadingOptions(rawValue: 8)
    }
    public init(contentsOf url: URL, options: ReadingOptions = []) throws { self.init() }
}
extension Data {
    public mutating func append(_ other: Data) {}; public mutating func append(contentsOf bytes: [UInt8]) {}
}
public struct UUID: Sendable, Hashable, Codable, CustomStringConvertible {
    public init() {}
    public init?(uuidString: String) {}
    public init(uuid: uuid_t) {}
    public var uuid: uuid_t {}
    public var uuidString: String {}
    public var description: String {}
}
public typealias uuid_t = (
    UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
)
public protocol MutableDataProtocol: DataProtocol, MutableCollection, RangeReplaceableCollection {}
public struct TimeZone: Sendable, Hashable {
    public init?(secondsFromGMT seconds: Int) {}
    public init?(identifier: String) {}
    public static var current: TimeZone {}
    public static var gmt: TimeZone {}
}
extension URL: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {}
    public var debugDescription: String {}
}
open class Thread: @unchecked Sendable {
    public init() {}
    public convenience init(block: @escaping @Sendable () -> Void) {}
    open class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
    open class func sleep(forTimeInterval interval: TimeInterval) {}
    open class var isMainThread: Bool {}
    open var name: String? {
        get {}
        set {}
    }
    open var stackSize: Int {
        get {}
        set {}
    }
    open func start() {}
}
open class FileHandle: @unchecked Sendable {
    open class var standardInput: FileHandle {}
    open class var standardOutput: FileHandle {}
    open class var standardError: FileHandle {}
    open class var nullDevice: FileHandle {}
    public init(fileDescriptor: Int32, closeOnDealloc: Bool) {}
    public convenience init(fileDescriptor: Int32) {}
    public convenience init?(forReadingAtPath path: String) {}
    public convenience init?(forWritingAtPath path: String) {}
    open var fileDescriptor: Int32 {}
    open func readDataToEndOfFile() -> Data {}
    open func readData(ofLength length: Int) -> Data {}
    open func write(_ data: Data) {}
    public func write<T: DataProtocol>(contentsOf data: T) throws {}
    public func readToEnd() throws -> Data? {}
    public func read(upToCount count: Int) throws -> Data? {}
    public func seekToEnd() throws -> UInt64 {}
    public func seek(toOffset offset: UInt64) throws {}
    public func close() throws {}
}
open class Pipe: @unchecked Sendable {
    public init() {}
    open var fileHandleForReading: FileHandle {}
    open var fileHandleForWriting: FileHandle {}
}
extension FileManager {
    open func subpathsOfDirectory(atPath path: String) throws -> [String] {}
    open func subpaths(atPath path: String) -> [String]? {}
}
extension URL {
    public func appending<S: StringProtocol>(path: S, directoryHint: DirectoryHint = .inferFromPath) -> URL {}
    public func deletingLastPathComponent() -> URL {}
    public var lastPathComponent: String {}
    public var pathExtension: String {}
}
open class JSONSerialization {
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) {}
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) {}
        public static var prettyPrinted: WritingOptions {}
        public static var sortedKeys: WritingOptions {}
        public static var fragmentsAllowed: WritingOptions {}
        public static var withoutEscapingSlashes: WritingOptions {}
    }
    open class func jsonObject(with data: Data, options: ReadingOptions = []) throws -> Any {}
    open class func data(withJSONObject object: Any, options: WritingOptions = []) throws -> Data {}
}
open class RunLoop {
    public struct Mode: Hashable, RawRepresentable, Sendable {
        public let rawValue: String
        public init(rawValue: String) {}
        public static var `default`: Mode {}
    }
    open class var current: RunLoop {}
    open func run(mode: Mode, before limit: Date) -> Bool {}
}
extension StringProtocol {
    public func components<T: StringProtocol>(separatedBy separator: T) -> [String] {}
    public func components(separatedBy separator: CharacterSet) -> [String] {}
    public func trimmingCharacters(in set: CharacterSet) -> String {}
    public func replacingOccurrences<Target: StringProtocol, Replacement: StringProtocol>(
        of target: Target, with replacement: Replacement
    ) -> String {}
}
extension CharacterSet {
    public static var whitespaces: CharacterSet {}
    public static var newlines: CharacterSet {}
    public static var whitespacesAndNewlines: CharacterSet {}
}
public struct URLResourceKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) {}
    public static var fileSizeKey: URLResourceKey {}
}
public struct URLResourceValues: Sendable {
    public init() {}
    public var fileSize: Int? {}
}
extension URL {
    public init(fileURLWithPath path: String, isDirectory: Bool) {}
    public func appendingPathComponent(_ component: String) -> URL {}
    public func appendingPathComponent(_ component: String, isDirectory: Bool) -> URL {}
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {}
}
extension FileManager {
    open func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
    open func removeItem(at url: URL) throws {}
}
open class NSObject { public init() {} }
public protocol NSObjectProtocol: AnyObject {}
extension NSObject: NSObjectProtocol {}
open class NSError: NSObject, @unchecked Sendable, Error {
    open var domain: String { "" }
    open var code: Int { 0 }
    open var userInfo: [String: Any] { [:] }
}
/// The compiler calls it for `as NSError`.
public func _convertErrorToNSError(_ error: any Error) -> NSError { fatalError() }
open class OperationQueue: NSObject, @unchecked Sendable {
    open var maxConcurrentOperationCount: Int = 0
}
extension ProcessInfo {
    @available(iOS 8.2, watchOS 2.0, tvOS 9.0, *)
    @available(macOS, unavailable)
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}
public struct URLRequest: Sendable, Hashable {
    public typealias CachePolicy = NSURLRequest.CachePolicy
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {}
    public var httpShouldHandleCookies: Bool {
        get { true }
        set {}
    }
    public var allowsCellularAccess: Bool {
        get { true }
        set {}
    }
    public var allowsExpensiveNetworkAccess: Bool {
        get { true }
        set {}
    }
    public var allowsConstrainedNetworkAccess: Bool {
        get { true }
        set {}
    }
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
}
open class NSURLRequest: NSObject, @unchecked Sendable {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0, reloadIgnoringLocalCacheData = 1, returnCacheDataElseLoad = 2,
            returnCacheDataDontLoad = 3, reloadIgnoringLocalAndRemoteCacheData = 4, reloadRevalidatingCacheData = 5
    }
}
open class URLResponse: NSObject, @unchecked Sendable {}
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    open var statusCode: Int { 0 }
    open var allHeaderFields: [AnyHashable: Any] { [:] }
}
open class URLCache: NSObject, @unchecked Sendable {}
open class URLCredentialStorage: NSObject, @unchecked Sendable {}
open class HTTPCookieStorage: NSObject, @unchecked Sendable {}
open class HTTPCookie: NSObject, @unchecked Sendable {
    public enum AcceptPolicy: UInt, Sendable { case always = 0, never = 1, onlyFromMainDocumentDomain = 2 }
}
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
    open var isDiscretionary: Bool = false
    @available(macOS 11.0, iOS 7.0, watchOS 2.0, tvOS 9.0, *)
    open var sessionSendsLaunchEvents: Bool = true
    open var sharedContainerIdentifier: String?
    open var httpMaximumConnectionsPerHost: Int = 0
    open var requestCachePolicy: NSURLRequest.CachePolicy = .useProtocolCachePolicy
    open var urlCache: URLCache?
    open var urlCredentialStorage: URLCredentialStorage?
    open var httpCookieStorage: HTTPCookieStorage?
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .always
    open var httpShouldSetCookies: Bool = true
}
open class URLSessionTask: NSObject, @unchecked Sendable {
    public enum State: Int, @unchecked Sendable { case running = 0, suspended = 1, canceling = 2, completed = 3 }
    open var taskIdentifier: Int { 0 }
    open var response: URLResponse? { nil }
    open var earliestBeginDate: Date?
    open var countOfBytesClientExpectsToReceive: Int64 = 0
    open var countOfBytesReceived: Int64 { 0 }
    open var taskDescription: String?
    open var state: URLSessionTask.State { .running }
    open var priority: Float = 0.5
    open func cancel() {}
    open func resume() {}
    public class var defaultPriority: Float { 0.5 }
    public class var lowPriority: Float { 0.25 }
    public class var highPriority: Float { 0.75 }
}
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}
public let NSURLSessionTransferSizeUnknown: Int64 = -1
public let NSURLErrorDomain: String = "NSURLErrorDomain"
public let NSURLErrorBackgroundTaskCancelledReasonKey: String = "NSURLErrorBackgroundTaskCancelledReasonKey"
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
}
open class URLSession: NSObject, @unchecked Sendable {
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {}
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {}
    public var allTasks: [URLSessionTask] { get async { [] } }
}
extension URLResourceKey {
    @available(macOS 10.13, iOS 11.0, *)
    @available(watchOS, unavailable)
    @available(tvOS, unavailable)
    public static var volumeAvailableCapacityForImportantUsageKey: URLResourceKey { fatalError() }
}
extension URLResourceValues {
    @available(macOS 10.13, iOS 11.0, *)
    @available(watchOS, unavailable)
    @available(tvOS, unavailable)
    public var volumeAvailableCapacityForImportantUsage: Int64? { nil }
    public var isExcludedFromBackup: Bool? {
        get { nil }
        set {}
    }
}
extension URL { public mutating func setResourceValues(_ values: URLResourceValues) throws {} }
public struct FileProtectionType: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) {}
    public static var completeUntilFirstUserAuthentication: FileProtectionType { fatalError() }
}
extension FileAttributeKey { public static var protectionKey: FileAttributeKey { fatalError() } }
extension URL {
    public static var documentsDirectory: URL { fatalError() }
    public var isFileURL: Bool { true }
}
open class InputStream: NSObject, @unchecked Sendable {}
extension URLRequest {
    public var url: URL? {
        get { nil }
        set {}
    }
    public var httpMethod: String? {
        get { nil }
        set {}
    }
    public var httpBody: Data? {
        get { nil }
        set {}
    }
    public var httpBodyStream: InputStream? {
        get { nil }
        set {}
    }
    public var allHTTPHeaderFields: [String: String]? {
        get { nil }
        set {}
    }
}
extension FormatStyle { public func locale(_ locale: Locale) -> Self { self } }
extension BinaryInteger {
    public func formatted<S: FormatStyle>(_ format: S) -> S.FormatOutput where S.FormatInput == Self { fatalError() }
}
extension BinaryFloatingPoint {
    public func formatted<S: FormatStyle>(_ format: S) -> S.FormatOutput where S.FormatInput == Self { fatalError() }
}
public struct ByteCountFormatStyle: FormatStyle {
    public enum Style: Sendable { case file, memory, decimal, binary }
    public func format(_ value: Int64) -> String { "" }
}
extension FormatStyle where Self == ByteCountFormatStyle {
    public static func byteCount(
        style: ByteCountFormatStyle.Style, spellsOutZero: Bool = true, includesActualByteCount: Bool = false
    ) -> Self { fatalError() }
}
public enum NumberFormatStyleConfiguration {
    public struct Precision: Sendable { public static func fractionLength(_ length: Int) -> Precision { fatalError() } }
}
public struct FloatingPointFormatStyle<Value: BinaryFloatingPoint & Sendable>: Sendable {
    public struct Percent: FormatStyle {
        public func format(_ value: Value) -> String { "" }
        public func precision(_ p: NumberFormatStyleConfiguration.Precision) -> Self { self }
    }
}
extension FormatStyle where Self == FloatingPointFormatStyle<Double>.Percent {
    public static var percent: Self { fatalError() }
}
extension Duration {
    public struct UnitsFormatStyle: FormatStyle {
        public struct Unit: Hashable, Sendable {
            public static var days: Unit { fatalError() }
            public static var hours: Unit { fatalError() }
            public static var minutes: Unit { fatalError() }
            public static var seconds: Unit { fatalError() }
        }
        public struct UnitWidth: Hashable, Sendable { public static var narrow: UnitWidth { fatalError() } }
        public init(allowedUnits: Set<Unit>, width: UnitWidth, maximumUnitCount: Int? = nil) {}
        public func format(_ value: Duration) -> String { "" }
    }
    public func formatted<S: FormatStyle>(_ v: S) -> S.FormatOutput where S.FormatInput == Self { fatalError() }
}
