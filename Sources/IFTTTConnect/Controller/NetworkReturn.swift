#if canImport(Network)
import Dispatch
import Network
#endif

/// When there is a network again, told by how it stands from one moment to the next.
enum NetworkReturn {
    /// Returns when there is a network that was not there at the first look, or that is another one than then; when the
    /// looks end, too.
    ///
    /// A service that cannot be reached over a network that is there and stays as it is, is none of this: trying again at
    /// once would only ask it over and over.
    ///
    /// - Parameter looks: whether there is a network; the first element is how it stands now.
    static func wait(_ looks: AsyncStream<Bool>) async {
        var isFirst = true
        for await hasNetwork in looks {
            if hasNetwork, !isFirst { return }
            isFirst = false
        }
    }

    #if canImport(Network)
    /// Waits as long as the system says that there is none, or no other one.
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
