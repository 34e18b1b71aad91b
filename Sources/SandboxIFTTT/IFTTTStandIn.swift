#if Sandbox
package import SandboxCore

/// IFTTT with one partner on one port: Connect API, web flow, app simulator, and the partner's own server (IFTTT Connect
/// dossier, section 11).
///
/// The hosts of section 2.1 differ in their paths, so one origin serves as the base URL of each: `/v2` for the Connect
/// API, `/v1/notifications` for realtime, `/v1/location_events` for locations, `/access/api` and `/connect` for the web
/// flow, `/app/connections` in place of `ifttt-handoff-v1://connections`.
package struct IFTTTStandIn: FixedStandIn {
    package static let name = SandboxService.Name.ifttt
    package static let loggedFields = [
        "IFTTT-SDK-Version", "IFTTT-SDK-Platform", "IFTTT-SDK-Anonymous-Id", "X-Request-ID",
    ]

    let store: Store
    private let pages: Pages

    package init(panel: ControlPanel, accessTokenLifetime: Int?) {
        let server = AuthorizationServer(
            dialect: Fixtures.partnerDialect(accessTokenLifetime: accessTokenLifetime ?? 3600), clock: panel.clock)
        store = Store(partnerServer: server, panel: panel)
        pages = Pages(dialect: Fixtures.siteDialect(server.dialect))
    }

    /// The partner's authorization server.
    package var server: AuthorizationServer { store.partnerServer }

    /// The front page is IFTTT's and not the partner's.
    package var frontDialect: Dialect { pages.dialect }

    package var controlRoutes: [Route] { SteeringRoutes(store: store).routes }

    package var details: [JSON.Member] { [JSON.Member(name: "connect", value: SandboxConnect().json)] }

    package let hidesWrongMethods = true

    package func notFound(_ request: IncomingRequest) -> Answer {
        let isAPI = ["/v1/", "/v2/", "/partner/"].contains { request.path.hasPrefix($0) }
        return isAPI ? Refusal.notFound.answer : pages.notFound()
    }

    /// The partner's.
    package func isAuthorizationPage(_ request: IncomingRequest) -> Bool { request.path == "/partner/oauth2/authorize" }

    package func cancel() {
        store.webhooks.cancel()
    }

    package func ended() async {
        await store.webhooks.ended()
    }

    package var routes: [Route] {
        let access = Access(store: store)
        let browsers = Browsers(store: store)
        return [
            ConnectionRoutes(store: store, access: access).routes,
            IdentityRoutes(store: store, access: access).routes,
            ConfigurationRoutes(store: store, access: access).routes,
            RunRoutes(store: store, access: access).routes,
            EventRoutes(store: store, access: access).routes,
            LocationRoutes(store: store, access: access).routes,
            PartnerRoutes(store: store).routes,
            FlowRoutes(store: store, browsers: browsers, pages: FlowPages(pages: pages)).routes,
            MailRoutes(store: store, browsers: browsers, pages: pages).routes, ImageRoutes().routes,
            // Last, since any one word may be a service.
            SiteRoutes(store: store, pages: pages).routes,
        ].flatMap { $0 }
    }
}
#endif
