/// IFTTT with one partner on one port: Connect API, web flow, app simulator, and the partner's own server (IFTTT Connect
/// dossier, section 11).
///
/// The hosts of section 2.1 differ in their paths, so one origin serves as the base URL of each: `/v2` for the Connect
/// API, `/v1/notifications` for realtime, `/v1/location_events` for locations, `/access/api` and `/connect` for the web
/// flow, `/app/connections` in the place of `ifttt-handoff-v1://connections`.
struct IFTTTStandIn: StandIn {
    let store: IFTTTStore
    private let pages: Pages

    init(server: AuthorizationServer, panel: ControlPanel) {
        store = IFTTTStore(partnerServer: server, panel: panel)
        pages = Pages(dialect: IFTTTFixtures.siteDialect(server.dialect))
    }

    /// The partner's authorization server.
    var server: AuthorizationServer { store.partnerServer }

    /// The front page is IFTTT's and not the partner's.
    var frontDialect: Dialect { pages.dialect }

    var controlRoutes: [Route] { IFTTTControlRoutes(store: store).routes }

    var routes: RouteTable {
        let access = IFTTTAccess(store: store)
        let browsers = IFTTTBrowsers(store: store)
        let api = [
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
        var table = RouteTable(routes: api) { [pages] request in
            let isAPI = ["/v1/", "/v2/", "/partner/"].contains { request.path.hasPrefix($0) }
            return isAPI ? IFTTTRefusal.notFound.answer : pages.notFound()
        }
        table.hidesWrongMethods = true
        return table
    }
}
