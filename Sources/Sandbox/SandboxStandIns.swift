/// The four stand-ins of one sandbox, in the order of their ports.
struct SandboxStandIns: Sendable {
    let sequencing: SequencingStandIn
    let recurseCenter: RecurseCenterStandIn
    let standard: StandardStandIn
    let ifttt: IFTTTStandIn

    init(panel: ControlPanel, accessTokenLifetime: Int?, unauthorized: UnauthorizedAnswer) {
        func server(_ dialect: Dialect) -> AuthorizationServer {
            AuthorizationServer(dialect: dialect, clock: panel.clock)
        }
        sequencing = SequencingStandIn(
            server: server(SequencingFixtures.dialect(accessTokenLifetime: accessTokenLifetime ?? 3600)))
        recurseCenter = RecurseCenterStandIn(
            server: server(RecurseCenterFixtures.dialect(accessTokenLifetime: accessTokenLifetime ?? 7200)),
            unauthorized: unauthorized)
        standard = StandardStandIn(
            server: server(StandardFixtures.dialect(accessTokenLifetime: accessTokenLifetime ?? 3600)))
        ifttt = IFTTTStandIn(
            server: server(IFTTTFixtures.partnerDialect(accessTokenLifetime: accessTokenLifetime ?? 3600)), panel: panel
        )
    }

    var all: [any StandIn] {
        [sequencing, recurseCenter, standard, ifttt]
    }

    subscript(name: SandboxService.Name) -> any StandIn {
        switch name {
        case .sequencing: sequencing
        case .recurseCenter: recurseCenter
        case .standard: standard
        case .ifttt: ifttt
        }
    }
}

extension AuthorizationServer {
    /// The public description of the service, once it listens.
    func service(personalAccessToken: String? = nil, connect: SandboxConnect? = nil) -> SandboxService {
        SandboxService(
            name: dialect.name, origin: origin, clients: dialect.clients, users: dialect.users,
            personalAccessToken: personalAccessToken, connect: connect)
    }
}
