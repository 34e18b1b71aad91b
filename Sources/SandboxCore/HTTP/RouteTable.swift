import HTTPTypes

/// One route of a stand-in, with the words that its front page uses for it.
package struct Route: Sendable {
    let methods: [String]
    /// Compared exactly, but for segments such as `{id}`, which stand for any one segment that is not empty.
    package let path: String
    package let note: String
    package let answer: @Sendable (IncomingRequest) -> Answer

    package init(
        _ methods: String..., path: String, note: String, answer: @escaping @Sendable (IncomingRequest) -> Answer
    ) {
        self.methods = methods
        self.path = path
        self.note = note
        self.answer = answer
    }

    /// Whether the route takes this method; one without methods takes any, and `HEAD` counts as `GET`.
    func takes(_ method: String) -> Bool {
        methods.isEmpty || methods.contains(method == "HEAD" ? "GET" : method)
    }

    /// What the path's variable segments stand for, decoded; nil when the route is for other paths.
    func variables(in requested: String) -> [String: String]? {
        guard path.contains("{") else { return path == requested ? [:] : nil }
        let pattern = path.split(separator: "/", omittingEmptySubsequences: false)
        let segments = requested.split(separator: "/", omittingEmptySubsequences: false)
        guard pattern.count == segments.count else { return nil }
        var variables: [String: String] = [:]
        for (expected, segment) in zip(pattern, segments) {
            if expected.first == "{", expected.last == "}" {
                guard !segment.isEmpty else { return nil }
                variables[String(expected.dropFirst().dropLast())] = PercentCoding.pathDecoded(segment)
            } else if expected != segment {
                return nil
            }
        }
        return variables
    }
}

/// The routes of a stand-in and what it says to everything else.
struct RouteTable: Sendable {
    let routes: [Route]
    let hidesWrongMethods: Bool
    let notFound: @Sendable (IncomingRequest) -> Answer

    func answer(_ request: IncomingRequest) -> Answer {
        let candidates = routes.filter { $0.variables(in: request.path) != nil }
        if let route = candidates.first(where: { $0.takes(request.method) }) {
            var request = request
            request.variables = route.variables(in: request.path) ?? [:]
            var answer = route.answer(request)
            if request.method == "HEAD" { answer.body = AnswerBody([]) }
            return answer
        }
        guard !candidates.isEmpty, !hidesWrongMethods else { return notFound(request) }
        let allowed = candidates.flatMap(\.methods)
        return .text("This route takes \(allowed.joined(separator: " and ")).\n", status: 405)
            .adding(.allow, allowed.joined(separator: ", "))
    }
}
