import HTTPTypes

/// One route of a stand-in, with the words that its front page uses for it.
struct Route: Sendable {
    let methods: [String]
    /// The path. A segment in braces, as in `/profiles/{id}`, stands for any one that is not empty.
    let path: String
    let note: String
    let answer: @Sendable (IncomingRequest) -> Answer

    init(
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

    /// The decoded values of the segments in braces; nil when the path is another one.
    func values(in requested: String) -> [String: String]? {
        guard path.contains("{") else { return path == requested ? [:] : nil }
        let pattern = path.split(separator: "/", omittingEmptySubsequences: false)
        let segments = requested.split(separator: "/", omittingEmptySubsequences: false)
        guard pattern.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (expected, found) in zip(pattern, segments) where expected != found {
            guard expected.first == "{", expected.last == "}", !found.isEmpty else { return nil }
            values[String(expected.dropFirst().dropLast())] = PercentCoding.decoded(found)
        }
        return values
    }
}

/// The routes of a stand-in and what it says to everything else. Of two that fit, the first one answers.
struct RouteTable: Sendable {
    var routes: [Route]
    /// The answer to an unknown path, given as the service itself gives it.
    let notFound: @Sendable (IncomingRequest) -> Answer
    /// Whether a known path with a wrong method is "not found", as in Rails, instead of 405.
    var hidesWrongMethods = false

    func answer(_ request: IncomingRequest) -> Answer {
        let candidates = routes.filter { $0.values(in: request.path) != nil }
        if let route = candidates.first(where: { $0.takes(request.method) }) {
            var request = request
            request.pathValues = route.values(in: request.path) ?? [:]
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
