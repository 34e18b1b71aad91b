/// A paged list, fetched page by page as it is iterated.
///
/// Each element comes once, also when the list changes between two pages. A page without new elements ends the sequence: a
/// server that ignores the offset cannot make it endless. The error of a page's request is thrown, and ends it too.
public struct PagedResults<Element: Sendable & Identifiable>: AsyncSequence, Sendable where Element.ID: Sendable {
    let pageSize: Int
    let page: @Sendable (_ offset: Int) async throws -> [Element]

    init(pageSize: Int, page: @escaping @Sendable (_ offset: Int) async throws -> [Element]) {
        self.pageSize = pageSize
        self.page = page
    }

    public func makeAsyncIterator() -> some AsyncIteratorProtocol<Element, any Error> & Sendable {
        Iterator(results: self)
    }

    /// Iterates over the elements of all pages.
    private struct Iterator: AsyncIteratorProtocol, Sendable {
        private let results: PagedResults
        private var ready: ArraySlice<Element> = []
        private var seen: Set<Element.ID> = []
        private var offset = 0
        private var isAtEnd = false

        init(results: PagedResults) {
            self.results = results
        }

        mutating func next() async throws -> Element? {
            if ready.isEmpty, !isAtEnd { try await fetch() }
            return ready.popFirst()
        }

        private mutating func fetch() async throws {
            isAtEnd = true
            let page = try await results.page(offset)
            offset += page.count
            ready = page.filter { seen.insert($0.id).inserted }[...]
            isAtEnd = page.count < results.pageSize || ready.isEmpty
        }
    }
}

extension PagedResults {
    /// All elements.
    public func all() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }
}
