#if canImport(Network)
import Dispatch
import Network
#endif

/// Detects that the network is back, from a sequence of its states.
enum NetworkReturn {
    /// Returns when there is a network that was missing or different at the first state; also when the sequence
    /// ends.
    ///
    /// A service that is unreachable over a stable network does not count: an immediate retry would only
    /// repeat the failure.
    ///
    /// - Parameter looks: whether there is a network; the first element is the current state.
    static func wait(_ looks: AsyncStream<Bool>) async {
        var isFirst = true
        for await hasNetwork in looks {
            if hasNetwork, !isFirst { return }
            isFirst = false
        }
    }

    #if canImport(Network)
    /// Waits while the system reports no network, or the same one.
    static func wait() async {
        let (looks, look) = AsyncStream<Bool>.makeStream()
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in look.yield(path.status == .satisfied) }
        look.onTermination = { _ in monitor.cancel() }
        monitor.start(queue: DispatchQueue(label: "handshake.network-return"))
        await wait(looks)
        look.finish()
    }
    #endif
}
