#if Server
public import Handshake
public import ServiceLifecycle

/// A keeper that starts and ends with a server.
///
/// Add it to the services of a Hummingbird application. At a graceful shutdown it begins no further refresh, and completes those on their way.
public struct KeeperService: ServiceLifecycle.Service {
    private let keeper: Keeper

    /// Makes a service of a keeper.
    public init(_ keeper: Keeper) {
        self.keeper = keeper
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await keeper.run() }
    }
}
#endif
