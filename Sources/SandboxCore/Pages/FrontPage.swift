#if Sandbox
import Mustache

extension Pages {
    private struct Front {
        let brand: String
        let origin: String
        let routes: [Line]
        let people: [Line]
        let clients: [Line]
        let control: [Line]
    }

    private struct Line {
        let name: String
        let note: String
    }

    /// The page at `/`: what this service offers, and to whom.
    func front(origin: String, routes: [Route], control: [Route]) -> Answer {
        let view = Front(
            brand: dialect.title, origin: origin, routes: routes.map(Self.line),
            people: dialect.users.map { user in
                let code = user.oneTimeCode.map { ", two-factor code \($0)" } ?? ""
                return Line(
                    name: user.name, note: "\(user.displayName), \(user.note); password \(user.password)\(code)")
            },
            clients: dialect.clients.map { Line(name: $0.id, note: "\($0.kind.rawValue): \($0.note)") },
            control: control.map(Self.line))
        return page("Stand-in", Template.front.render(view), isWide: true)
    }

    private static func line(_ route: Route) -> Line {
        let methods = route.methods.isEmpty ? "any method" : route.methods.joined(separator: ", ")
        return Line(name: "\(methods) \(route.path)", note: route.note)
    }
}
#endif
