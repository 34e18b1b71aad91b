public import Handshake
public import OAuth

extension ConnectController {
    /// The connections of a controller to the outside.
    public struct Connections: Sendable {
        /// The hosts of IFTTT.
        public var hosts: Hosts
        public var transport: any Transport
        public var time: TimeSource
        public var random: RandomSource

        public init(
            hosts: Hosts = .production, transport: any Transport = .platform, time: TimeSource = .system,
            random: RandomSource = .system
        ) {
            self.hosts = hosts
            self.transport = transport
            self.time = time
            self.random = random
        }

        func api(_ caller: ConnectAPI.Caller) -> ConnectAPI {
            ConnectAPI(caller, at: hosts, transport: transport, time: time)
        }
    }
}
