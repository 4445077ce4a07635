// The part of Dispatch that Ferry and its dependencies use.
@_exported import Darwin
public struct DispatchTime: Sendable, Comparable {
    public let uptimeNanoseconds: UInt64
    public static func now() -> DispatchTime { fatalError() }
    public static let distantFuture = DispatchTime(uptimeNanoseconds: .max)
    public init(uptimeNanoseconds: UInt64) { self.uptimeNanoseconds = uptimeNanoseconds }
    public static func < (a: DispatchTime, b: DispatchTime) -> Bool { a.uptimeNanoseconds < b.uptimeNanoseconds }
}
public enum DispatchTimeInterval: Sendable {
    case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int), never
}
public func + (time: DispatchTime, seconds: Double) -> DispatchTime { time }
public func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime { time }
public struct DispatchQoS: Sendable {
    public static let background = DispatchQoS(), utility = DispatchQoS(), `default` = DispatchQoS(),
        userInitiated = DispatchQoS(), userInteractive = DispatchQoS(), unspecified = DispatchQoS()
    public enum QoSClass: Sendable { case background, utility, `default`, userInitiated, userInteractive, unspecified }
}
public struct DispatchWorkItemFlags: OptionSet, Sendable {
    public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
}
public class DispatchGroup: @unchecked Sendable {
    public init() {}; public func enter() {}; public func leave() {}; public func wait() {}
    public func notify(queue: DispatchQueue, execute work: @escaping @Sendable @convention(block) () -> Void) {}
}
open class DispatchQueue: @unchecked Sendable {
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64; public init(rawValue: UInt64) { self.rawValue = rawValue }
        public static let concurrent = Attributes(rawValue: 1), initiallyInactive = Attributes(rawValue: 2)
    }
    public enum AutoreleaseFrequency: Sendable { case inherit, workItem, never }
    public static var main: DispatchQueue { fatalError() }
    public static func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { fatalError() }
    public init(
        label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
        autoreleaseFrequency: AutoreleaseFrequency = .inherit, target: DispatchQueue? = nil
    ) {}
    public func async(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func asyncAfter(
        deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func sync<T>(execute work: () throws -> T) rethrows -> T { try work() }
    public var label: String { "" }
}
public class DispatchSemaphore: @unchecked Sendable {
    public init(value: Int) {}; public func wait() {};
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success };
    @discardableResult public func signal() -> Int { 0 }
}
@frozen public enum DispatchTimeoutResult: Sendable { case success, timedOut }
public struct DispatchPredicate {}
public protocol DispatchSourceProtocol: AnyObject {
    func setEventHandler(handler: (@Sendable () -> Void)?); func setCancelHandler(handler: (@Sendable () -> Void)?);
    func activate(); func resume(); func cancel(); func suspend()
}
public protocol DispatchSourceRead: DispatchSourceProtocol {}
public protocol DispatchSourceSignal: DispatchSourceProtocol {}
public protocol DispatchSourceTimer: DispatchSourceProtocol {
    func schedule(deadline: DispatchTime, repeating interval: DispatchTimeInterval, leeway: DispatchTimeInterval);
    func schedule(deadline: DispatchTime)
}
extension DispatchSourceTimer { public func schedule(deadline: DispatchTime, leeway: DispatchTimeInterval) {} }
public class DispatchSource: @unchecked Sendable {
    public struct TimerFlags: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public class func makeSignalSource(signal: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceSignal {}
    public class func makeReadSource(fileDescriptor: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceRead {
        fatalError()
    }
    public class func makeTimerSource(flags: TimerFlags = [], queue: DispatchQueue? = nil) -> any DispatchSourceTimer {
        fatalError()
    }
}
public struct DispatchData: RandomAccessCollection, Sendable {
    public typealias Index = Int; public typealias Element = UInt8
    public var startIndex: Int { 0 }; public var endIndex: Int { 0 }; public subscript(i: Int) -> UInt8 { 0 }
    public init(bytes: UnsafeRawBufferPointer) {}; public mutating func append(_ b: UnsafeRawBufferPointer) {};
    public func withUnsafeBytes<R, C>(body: (UnsafePointer<C>) throws -> R) rethrows -> R { fatalError() }
    public struct Region: Sendable {}
}
public class DispatchWorkItem: @unchecked Sendable {
    public init(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        block: @escaping @Sendable @convention(block) () -> Void
    ) {}; public func cancel() {}
}
public final class DispatchSpecificKey<T>: @unchecked Sendable { public init() {} }
extension DispatchQueue {
    public func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {};
    public func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { nil };
    public class func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { nil }
}
public func dispatchPrecondition(condition: @autoclosure () -> DispatchPredicate) {}
