import Handshake
import TestFixtures
import Testing

@testable import PostgresVault

@Suite(
    "A connection to PostgreSQL", .heavy, .timeLimit(.minutes(10)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresConnectionTests {
    private let address: PostgresAddress

    init() throws { address = try PostgresAddress(PostgresServer.shared.get().connection) }

    private func open() async throws -> PostgresConnection {
        try await PostgresConnection.open(address, timeout: .seconds(60))
    }

    private func run(_ sql: String..., on connection: PostgresConnection) async -> [PostgresConnection.Answer] {
        await connection.run(sql.map { PostgresStatement($0) }, within: .seconds(60))
    }

    private func isSuccess(_ answer: PostgresConnection.Answer) -> Bool {
        if case .success = answer { true } else { false }
    }

    @Test(
        "an answer that is none to a statement ends the connection instead of being read for ever",
        arguments: ["COPY (SELECT 1) TO STDOUT", "COPY copied FROM STDIN"])
    func copy(statement: String) async throws {
        let watched = try await open()
        for statements in [[statement], ["SELECT 1", statement]] {
            let connection = try await open()
            #expect(await run("CREATE TEMP TABLE copied (a int)", on: connection).map(isSuccess) == [true])
            let answers = await connection.run(statements.map { PostgresStatement($0) }, within: .seconds(60))
            #expect(answers.count == statements.count && answers.last.map(isSuccess) == false)
            #expect(!connection.isOpen)
        }
        // The thread that watches all connections goes on.
        #expect(await run("SELECT 1", on: watched).map(isSuccess) == [true])
    }

    @Test("a second exchange is refused, and the first one goes on")
    func second() async throws {
        let (connection, other) = (try await open(), try await open())
        #expect(await run("SELECT pg_advisory_lock(71)", on: other).map(isSuccess) == [true])
        async let first = run("SELECT pg_advisory_lock(71)", on: connection)
        while !connection.isBusy { await Task.yield() }
        let refused = await run("SELECT 1", "SELECT 2", on: connection)
        #expect(refused.map(isSuccess) == [false, false])
        #expect(await run("SELECT pg_advisory_unlock(71)", on: other).map(isSuccess) == [true])
        #expect(await first.map(isSuccess) == [true])
        #expect(await run("SELECT pg_advisory_unlock(71)", on: connection).map(isSuccess) == [true])
    }

    @Test("what is urgent goes before all who wait for a connection")
    func urgent() async throws {
        let pool = PostgresPool(address, limit: 1)
        defer { pool.close() }
        let order = Shared<[Int]>([])
        let tasks = try await pool.transaction { _ in
            var tasks: [Task<Void, any Error>] = []
            for number in 0..<4 {
                tasks.append(
                    Task {
                        _ = try await pool.run([PostgresStatement("SELECT 1")], isUrgent: number == 3)
                        order.change { $0.append(number) }
                    })
                while pool.waitingCount != number + 1 { await Task.yield() }
            }
            return tasks
        }
        for task in tasks { try await task.value }
        #expect(order.value.first == 3 && order.value.sorted() == [0, 1, 2, 3])
    }
}
