package import SandboxCore

/// IFTTT with one partner on one port: Connect API, web flow, app simulator, and the partner's own server (IFTTT Connect
/// dossier, section 11).
///
/// The hosts of section 2.1 differ in their paths, so one origin serves as the base URL of each: `/v2` for the Connect
/// API, `/v1/notifications` for realtime, `/v1/location_events` for locations, `/access/api` and `/connect` for the web
/// flow, `/app/connections` in the place of `ifttt-handoff-v1://connections`.
package struct IFTTTStandIn: StandIn {
    package static let name = SandboxService.Name.ifttt
    package static let loggedFields = [
        "IFTTT-SDK-Version", "IFTTT-SDK-Platform", "IFTTT-SDK-Anonymous-Id", "X-Request-ID",
    ]

    let store: IFTTTStore
    private let pages: Pages

    package init(panel: ControlPanel, accessTokenLifetime: Int?) {
        let server = AuthorizationServer(
            dialect: IFTTTFixtures.partnerDialect(accessTokenLifetime: accessTokenLifetime ?? 3600), clock: panel.clock)
        store = IFTTTStore(partnerServer: server, panel: panel)
        pages = Pages(dialect: IFTTTFixtures.siteDialect(server.dialect))
    }

    /// The partner's authorization server.
    package var server: AuthorizationServer { store.partnerServer }

    /// The front page is IFTTT's and not the partner's.
    package var frontDialect: Dialect { pages.dialect }

    package var controlRoutes: [Route] { IFTTTControlRoutes(store: store).routes }

    package var details: [JSON.Member] { [JSON.Member(name: "connect", value: SandboxConnect().json)] }

    package let hidesWrongMethods = true

    package func notFound(_ request: IncomingRequest) -> Answer {
        let isAPI = ["/v1/", "/v2/", "/partner/"].contains { request.path.hasPrefix($0) }
        return isAPI ? IFTTTRefusal.notFound.answer : pages.notFound()
    }

    package func cancel() {
        store.webhooks.cancel()
    }

    package func ended() async {
        await store.webhooks.ended()
    }

    package var routes: [Route] {
        let access = IFTTTAccess(store: store)
        let browsers = IFTTTBrowsers(store: store)
        return [
            IFTTTConnectionRoutes(store: store, access: access).routes,
            IFTTTIdentityRoutes(store: store, access: access).routes,
            IFTTTConfigurationRoutes(store: store, access: access).routes,
            IFTTTRunRoutes(store: store, access: access).routes,
            IFTTTEventRoutes(store: store, access: access).routes,
            IFTTTLocationRoutes(store: store, access: access).routes,
            IFTTTPartnerRoutes(store: store).routes,
            IFTTTFlowRoutes(store: store, browsers: browsers, pages: IFTTTPages(pages: pages)).routes,
            IFTTTMailRoutes(store: store, browsers: browsers, pages: pages).routes, IFTTTImages().routes,
            // Last, since any one word may be a service.
            IFTTTSiteRoutes(store: store, pages: pages).routes,
        ].flatMap { $0 }
    }
}
