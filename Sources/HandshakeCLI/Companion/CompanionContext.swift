#if CommandLine
import Handshake
import Hummingbird
import NIOCore

/// The context of a request to the companion, with the sender's end of the connection.
struct CompanionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let peer: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress
    }

    /// Whether the request may be another user's. It counts as the user's own where the system lists no connections.
    ///
    /// Other users of the machine can read the link in the process list while the browser is started. It gives their processes
    /// nothing.
    func isForeign(to port: Int) -> Bool {
        guard let address = peer?.ipAddress, let peer = LoopbackPeer.End(address, port: peer?.port ?? 0),
            let local = LoopbackPeer.End("127.0.0.1", port: port)
        else { return false }
        return LoopbackPeer.isForeign(LoopbackPeer.owner(of: peer, connectedTo: local), to: LoopbackPeer.users)
    }
}
#endif
