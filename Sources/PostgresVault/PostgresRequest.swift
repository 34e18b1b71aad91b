#if PostgreSQL
/// Statements of one transaction, which may share it with those of other requests.
struct PostgresRequest: Sendable {
    /// With which others a request may share a transaction.
    ///
    /// What must be durable is in none with what need not be: one statement decides for the whole transaction.
    enum Lane: Int, Sendable, CaseIterable {
        /// Waits for nothing, and goes alone.
        case urgent
        /// Goes alone.
        case alone
        /// Reads.
        case reading
        /// Acquires and releases leases. Its commit need not reach the storage.
        case lease
        /// Writes records. Its commit is durable.
        case record
    }

    let statements: [PostgresStatement]
    var lane = Lane.alone
    /// The record. Rows are locked in the order of names, so that two transactions do not wait for each other.
    var name: [UInt8] = []

    /// The bytes that go to the server beside the texts.
    var size: Int { statements.reduce(0) { $0 + $1.size } }
}

/// Callers that wait for a connection, by lane. The one that came first is served first; those of its lane that wait too go along.
struct PostgresLines {
    /// What a caller gets when its turn comes.
    enum Lent: Sendable {
        /// A connection, for its own request and those of the companions; nil for a place in the pool, where it opens one.
        case connection(PostgresConnection?, [Companion])
        /// The answer to its request, which another caller sent in the same transaction.
        case answer(PostgresExchange.Answer)
        /// Another caller sent its request in a transaction that failed, so nothing was done. It sends the request again, alone.
        case alone
        case failure(PostgresFailure)
    }

    typealias Turn = CheckedContinuation<Lent, Never>

    /// A request that another caller sends along.
    struct Companion: Sendable {
        let request: PostgresRequest
        let turn: Turn
    }

    private struct Waiting {
        let number: UInt64
        let request: PostgresRequest?
        let turn: Turn
    }

    /// First in, first out, in constant time on average.
    private struct Line {
        private var items: [Waiting] = []
        private var start = 0

        var first: Waiting? { start < items.count ? items[start] : nil }
        var count: Int { items.count - start }

        mutating func append(_ item: Waiting) { items.append(item) }

        mutating func removeFirst() {
            start += 1
            guard start * 2 >= items.count else { return }
            items.removeFirst(start)
            start = 0
        }
    }

    /// How many requests share a transaction at most, and how many bytes.
    private static let most = (requests: 64, bytes: 1 << 18)

    private var lines = [Line](repeating: Line(), count: PostgresRequest.Lane.allCases.count)
    private var next: UInt64 = 0

    var count: Int { lines.reduce(0) { $0 + $1.count } }

    /// - Parameter request: what another caller may send along; nil for one that needs the connection itself.
    mutating func append(_ turn: Turn, _ request: PostgresRequest?, in lane: PostgresRequest.Lane) {
        lines[lane.rawValue].append(Waiting(number: next, request: request, turn: turn))
        next += 1
    }

    /// The caller to serve next, and those that go along.
    mutating func removeNext() -> (turn: Turn, companions: [Companion])? {
        let urgent = PostgresRequest.Lane.urgent.rawValue
        var next: (index: Int, head: Waiting)?
        for index in lines.indices {
            guard let head = lines[index].first else { continue }
            guard let first = next, first.index == urgent || index != urgent && first.head.number < head.number else {
                next = (index, head)
                continue
            }
        }
        guard let (index, head) = next else { return nil }
        lines[index].removeFirst()
        var companions: [Companion] = []
        guard var size = head.request?.size else { return (head.turn, companions) }
        while companions.count + 1 < Self.most.requests, let other = lines[index].first, let request = other.request,
            size + request.size <= Self.most.bytes
        {
            size += request.size
            companions.append(Companion(request: request, turn: other.turn))
            lines[index].removeFirst()
        }
        return (head.turn, companions)
    }

    /// All callers that wait.
    mutating func removeAll() -> [Turn] {
        var turns: [Turn] = []
        while let next = removeNext() { turns += [next.turn] + next.companions.map(\.turn) }
        return turns
    }
}
#endif
