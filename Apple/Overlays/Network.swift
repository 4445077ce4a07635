// The path monitor of Network. Visible to Ferry alone: dependencies that can import this framework use far more of it.
import Dispatch
public struct NWInterface: Sendable, Hashable {
    public var name: String { "" }
    public enum InterfaceType: Sendable { case other, wifi, cellular, wiredEthernet, loopback }
    public var type: InterfaceType { .other }; public var index: Int { 0 }
}
public struct NWPath: Sendable, Equatable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public var status: Status { .satisfied }; public var isExpensive: Bool { false };
    public var isConstrained: Bool { false }; public var supportsIPv4: Bool { true };
    public var supportsIPv6: Bool { true }
    public var availableInterfaces: [NWInterface] { [] }
}
final public class NWPathMonitor: Sendable {
    public init() {}
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { nil }
        set {}
    }
    public var currentPath: NWPath { fatalError() }
    public func start(queue: DispatchQueue) {}; public func cancel() {}
}
