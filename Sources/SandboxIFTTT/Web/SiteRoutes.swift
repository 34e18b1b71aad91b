#if Sandbox
import Mustache
import SandboxCore

/// The pages that apps link to (IFTTT Connect dossier, row S20).
struct SiteRoutes: Sendable {
    let store: Store
    let pages: Pages

    var routes: [Route] {
        [
            Route("GET", path: "/connections/{id}", note: "a connection's page", answer: connection),
            Route("GET", path: "/terms", note: "privacy and terms") { [pages] _ in
                pages.page("Terms", Template.terms.render([:] as [String: String]))
            },
            Route("GET", path: "/{service}", note: "a service's page", answer: service),
        ]
    }

    private struct ConnectionView {
        let title: String
        let about: String
        let edit: String
        let services: [Link]
        let features: [Line]
    }

    private struct Link {
        let name: String
        let link: String
    }

    private struct Line {
        let heading: String
        let note: String?
    }

    private func connection(_ request: IncomingRequest) -> Answer {
        let found = store.read { state -> (Connection, [Service])? in
            guard let connection = state.connection(request.variables["id"] ?? ""),
                state.partner(of: connection)?.isPublished == true
            else { return nil }
            return (connection, state.services(of: connection))
        }
        guard let (connection, services) = found else { return pages.notFound() }
        let view = ConnectionView(
            title: connection.name, about: connection.description, edit: "/connections/\(connection.id)/edit",
            services: services.map { Link(name: $0.name, link: "/\($0.id)") },
            features: connection.features.map { Line(heading: $0.title, note: $0.description) })
        return pages.page("Connection", Template.connection.render(view))
    }

    private struct ServiceView {
        let name: String
        let connections: [Link]
    }

    private func service(_ request: IncomingRequest) -> Answer {
        let id = request.variables["service"] ?? ""
        let view = store.read { state -> ServiceView? in
            guard let service = state.services[id] else { return nil }
            let own = state.connections.filter {
                $0.serviceIDs.contains(id) && state.partner(of: $0)?.isPublished == true
            }
            return ServiceView(
                name: service.name, connections: own.map { Link(name: $0.name, link: "/connections/\($0.id)") })
        }
        guard let view else { return pages.notFound() }
        return pages.page("Service", Template.servicePage.render(view))
    }
}

extension Template {
    fileprivate static let connection = Template(
        """
        <h1><bdi>{{title}}</bdi></h1>
        <p><bdi>{{about}}</bdi></p>
        <h2>Works with</h2>
        <ul class="rows">{{#services}}<li><a href="{{link}}"><bdi>{{name}}</bdi></a></li>{{/services}}</ul>
        <h2>Features</h2>
        <ul class="rows">{{#features}}<li><bdi>{{heading}}</bdi>{{#note}}<p><bdi>{{note}}</bdi></p>{{/note}}</li>\
        {{/features}}</ul>
        <p><a href="{{edit}}">Change your settings</a></p>
        """)

    fileprivate static let servicePage = Template(
        """
        <h1><bdi>{{name}}</bdi></h1>
        <h2 id="with">Connections with it</h2>
        <ul class="rows" aria-labelledby="with">{{#connections}}<li><a href="{{link}}"><bdi>{{name}}</bdi></a></li>\
        {{/connections}}{{^connections}}<li>None is published.</li>{{/connections}}</ul>
        """)

    fileprivate static let terms = Template(
        """
        <h1>Privacy and terms</h1>
        <p>This page stands where a real service has its terms. The sandbox keeps everything in the memory of one \
        program on this machine and forgets it when that ends.</p>
        """)
}
#endif
