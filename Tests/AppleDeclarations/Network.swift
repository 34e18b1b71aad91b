// What the adapters use of Apple's Network, declared as Apple declares it and without any behaviour.
// Isolation and sendability are part of the declaration: a check against anything else would prove nothing.
public import Dispatch

public struct NWPath: Equatable, Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public let status: Status
}

public final class NWPathMonitor: Sendable {
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { nil }
        set {}
    }
    public init() {}
    public var currentPath: NWPath { fatalError() }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
