/// The rows of a query, fetched page by page.
public struct QueryRows: AsyncSequence, Sendable {
    public typealias Element = [String: QueryPage.Ingredient]

    /// The maximum number of pages.
    static let maximumPages = 10_000
    /// The maximum number of consecutive pages without rows.
    static let maximumEmptyPages = 100

    let first: QueryPage.Request
    let perform: @Sendable (QueryPage.Request) async throws -> QueryPage

    public func makeAsyncIterator() -> Iterator {
        Iterator(request: first, perform: perform)
    }

    public struct Iterator: AsyncIteratorProtocol {
        /// The request after the current rows; nil at the end.
        private var request: QueryPage.Request?
        private let perform: @Sendable (QueryPage.Request) async throws -> QueryPage
        private var rows: ArraySlice<Element> = []
        private var seen: Set<String> = []
        private var emptyPages = 0
        /// The error after the current rows.
        private var failure: ConnectError?

        fileprivate init(
            request: QueryPage.Request, perform: @escaping @Sendable (QueryPage.Request) async throws -> QueryPage
        ) {
            self.request = request
            self.perform = perform
        }

        public mutating func next() async throws -> Element? {
            while rows.isEmpty {
                if let failure {
                    self.failure = nil
                    throw failure
                }
                guard let request else { return nil }
                self.request = nil
                let page = try await perform(request)
                rows = page.rows[...]
                emptyPages = rows.isEmpty ? emptyPages + 1 : 0
                guard let next = page.next else { continue }
                failure = objection(to: next)
                guard failure == nil else { continue }
                var following = request
                following.next = next
                self.request = following
            }
            return rows.popFirst()
        }

        /// The error for a next page that is not requested; nil when it is.
        private mutating func objection(to next: QueryPage.Next) -> ConnectError? {
            guard seen.insert(next.cursor).inserted else {
                return .malformed(
                    answer: "perform", member: "next.cursor", expected: "a new page",
                    found: "a page that was read before")
            }
            guard seen.count < QueryRows.maximumPages, emptyPages < QueryRows.maximumEmptyPages else {
                return .malformed(
                    answer: "perform", member: "next", expected: "the end of the list", found: "another page")
            }
            return nil
        }
    }
}
