import Foundation
import Handshake
import TestFixtures
import Testing

@testable import PostgresVault

@Suite(
    "A connection to PostgreSQL", .heavy, .ownThreads,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresConnectionTests {
    private let address: PostgresAddress

    init() async throws { address = try PostgresAddress(try await PostgresServer.shared.connection) }

    private func open() async throws -> PostgresConnection {
        try await PostgresConnection.open(address, timeout: .seconds(60))
    }

    private func run(_ sql: String..., on connection: PostgresConnection) async -> PostgresExchange.Answer {
        await connection.run(sql.map { PostgresStatement($0) }, within: .seconds(60))
    }

    private func isSuccess(_ answer: PostgresExchange.Answer) -> Bool {
        if case .success = answer { true } else { false }
    }

    /// Why the server did nothing; empty when it did.
    private func reason(_ answer: PostgresExchange.Answer) -> String {
        if case .failure(let failure) = answer { failure.state } else { "" }
    }

    @Test("a server that accepts a connection and answers no statement is none, and the error says so")
    func silent() async throws {
        let server = try RawServer(isRaw: true) { Self.isGreeting($0) ? [.send(Self.welcome)] : [.hold] }
        defer { server.stop() }
        await notInTime(try Self.address(of: server), .milliseconds(500))
    }

    @Test("a server that uses most of the time to accept a connection has only the rest for the first statement")
    func slow() async throws {
        // No such function.
        let refusal = Array("ERROR\0C42883\0Mnone\0\0".utf8)
        let answer: [UInt8] = [0x45, 0, 0, 0, UInt8(refusal.count + 5), 0x53] + refusal + [0x5A, 0, 0, 0, 5, 0x49]
        let server = try RawServer(isRaw: true) { bytes in
            // Each takes less than the whole time, and both take more. They are times because a time is what is tested; where a busy machine makes
            // them longer, the server is as late.
            holdThread(for: 2)
            return [.send(Self.isGreeting(bytes) ? Self.welcome : answer)]
        }
        defer { server.stop() }
        await notInTime(try Self.address(of: server), .seconds(3))
    }

    @Test("a server of a list that accepts a connection and says nothing is passed in time")
    func silentFirst() async throws {
        let server = try RawServer(isRaw: true) { _ in [.hold] }
        defer { server.stop() }
        let socket = try await PostgresServer.shared.socket
        let list = try PostgresAddress(
            "host=127.0.0.1,\(socket) port=\(server.port),5432 user=postgres dbname=postgres sslmode=disable gssencmode=disable"
        )
        let connection = try await PostgresConnection.open(list, timeout: .seconds(30))
        #expect(connection.isOpen)
        #expect(isSuccess(await run("SELECT 1", on: connection)))
    }

    @Test(
        "VL39: a list is left to libpq where a service file may name another server, in the string or by a variable",
        arguments: [
            ("", [:], 2), ("", ["PGSERVICE": "other"], 1), ("service=other", [:], 1), ("", ["PGHOST": "c,d,e"], 2),
        ])
    func listOfService(more: String, environment: [String: String], count: Int) throws {
        #expect(try PostgresAddress("host=a,b \(more)").servers(in: environment).count == count)
    }

    @Test("VL39: the servers of a list come in any order where a variable of libpq says so")
    func balanced() throws {
        let hosts = (0..<50).map { "h\($0)" }
        let list = try PostgresAddress("host=\(hosts.joined(separator: ","))")
        let places = list.servers(in: ["PGLOADBALANCEHOSTS": "random"]).map(\.place)
        #expect(places != list.servers(in: [:]).map(\.place))
        #expect(places.sorted() == hosts.sorted())
    }

    @Test("when no server of a list can be used the error names each, and one that refuses the role ends the search")
    func noServer() async throws {
        let socket = try await PostgresServer.shared.socket
        for (hosts, isSearched) in [("/nonexistent,/nowhere", true), ("\(socket),/nowhere", false)] {
            let list = try PostgresAddress("host=\(hosts) user=secretive password=wrong dbname=postgres")
            do throws(PostgresFailure) {
                _ = try await PostgresConnection.open(list, timeout: .seconds(30))
                Issue.record("a connection")
            } catch {
                #expect(error.text.contains("/nowhere") == isSearched, "\(error.text)")
                #expect(error.state == (isSearched ? "" : "28P01"))
            }
        }
    }

    /// It wants no password, is process 7, and waits for a statement.
    private static let welcome: [UInt8] =
        [0x52, 0, 0, 0, 8, 0, 0, 0, 0] + [0x4B, 0, 0, 0, 12, 0, 0, 0, 7, 0, 0, 0, 7] + [0x5A, 0, 0, 0, 5, 0x49]

    private static func isGreeting(_ bytes: [UInt8]) -> Bool { bytes.dropFirst(4).prefix(4) == [0, 3, 0, 0] }

    static func address(of server: RawServer) throws -> PostgresAddress {
        try PostgresAddress(
            "host=127.0.0.1 port=\(server.port) user=a dbname=a sslmode=disable gssencmode=disable target_session_attrs=any"
        )
    }

    private func notInTime(_ address: PostgresAddress, _ timeout: Duration) async {
        do throws(PostgresFailure) {
            let connection = try await PostgresConnection.open(address, timeout: timeout)
            Issue.record("a connection that is \(connection.isOpen ? "open" : "closed")")
        } catch {
            #expect(error.text == "the server did not answer in time" && !error.mayBeDone)
        }
    }

    @Test("a statement that is not parsed in time says so, and nothing of it was done")
    func unparsed() async throws {
        let (owner, connection) = (try await open(), try await open())
        #expect(isSuccess(await run("CREATE TABLE IF NOT EXISTS locked (a bigint)", on: owner)))
        #expect(isSuccess(await run("BEGIN", "LOCK TABLE locked IN ACCESS EXCLUSIVE MODE", on: owner)))
        let statement = PostgresStatement(PostgresText(name: "handshake_test", sql: "SELECT a FROM locked"), [])
        let answer = await connection.run([statement], within: .milliseconds(300))
        guard case .failure(let failure) = answer else { return #expect(Bool(false), "it was parsed") }
        #expect(failure.text == "the server did not answer in time" && !failure.mayBeDone)
        #expect(isSuccess(await run("ROLLBACK", "DROP TABLE locked", on: owner)))
    }

    /// What an application does that blocks the threads of Swift's concurrency, and what happens on a machine that is busy.
    ///
    /// The process stands still for longer than the connection's limit: no event can take the place of that time.
    @Test("the time in which this process stands still is not the server's, and a connection is made all the same")
    func standstill() async throws {
        let connection = try await PostgresServer.shared.connection
        await #expect(processExitsWith: .success) { [connection = connection as String] in
            let address = try PostgresAddress(connection)
            let begins = Shared(false)
            async let opened = {
                begins.change { $0 = true }
                return try await PostgresConnection.open(address, timeout: .seconds(3))
            }()
            while !begins.value { await Task.yield() }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<ProcessInfo.processInfo.activeProcessorCount { group.addTask { holdThread(for: 4) } }
            }
            #expect(try await opened.isOpen)
        }
    }

    @Test(
        "an answer that is none to a statement ends the connection instead of being read for ever",
        arguments: ["COPY (SELECT 1) TO STDOUT", "COPY copied FROM STDIN"])
    func copy(statement: String) async throws {
        let watched = try await open()
        for statements in [[statement], ["SELECT 1", statement]] {
            let connection = try await open()
            #expect(isSuccess(await run("CREATE TEMP TABLE copied (a int)", on: connection)))
            let answer = await connection.run(statements.map { PostgresStatement($0) }, within: .seconds(60))
            #expect(!isSuccess(answer))
            #expect(!connection.isOpen)
        }
        // The thread that watches all connections goes on.
        #expect(isSuccess(await run("SELECT 1", on: watched)))
    }

    @Test("statements that go together are one transaction, also where it fails at its end, and the first error counts")
    func together() async throws {
        let connection = try await open()
        #expect(
            isSuccess(await run("CREATE TEMP TABLE kept (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)", on: connection)))
        let refused = await run("INSERT INTO kept VALUES (1)", "SELECT 1 / 0", "SELECT nothing", on: connection)
        #expect(reason(refused) == "22012")
        if case .failure(let failure) = refused { #expect(failure.statement == 1 && !failure.mayBeDone) }
        let late = await run("INSERT INTO kept VALUES (1)", "INSERT INTO kept VALUES (1)", on: connection)
        #expect(reason(late) == "23505")
        if case .failure(let failure) = late { #expect(failure.statement == nil && !failure.mayBeDone) }
        let rows = try await run("INSERT INTO kept VALUES (2)", "SELECT count(*) FROM kept", on: connection).get()
        #expect(rows.map(\.count) == [0, 1])
        #expect(try rows[1][0].int(0) == 1)
    }

    @Test("what a pooler or an administrator throws away is not prepared again, and the statement is repeated")
    func unprepared() async throws {
        let connection = try await open()
        let statement = PostgresStatement(PostgresText(name: "handshake_test", sql: "SELECT $1::bigint"), [.int(7)])
        for _ in 0..<2 { #expect(isSuccess(await connection.run([statement], within: .seconds(60)))) }
        let prepared = try await run("SELECT count(*) FROM pg_prepared_statements", on: connection).get()
        #expect(try prepared[0][0].int(0) == 1)
        #expect(isSuccess(await run("DEALLOCATE ALL", on: connection)))
        let refused = await connection.run([statement], within: .seconds(60))
        guard case .failure(let failure) = refused else { return #expect(Bool(false), "it was prepared") }
        #expect(failure.isConflict)
        #expect(isSuccess(await connection.run([statement], within: .seconds(60))))
        let after = try await run("SELECT count(*) FROM pg_prepared_statements", on: connection).get()
        #expect(try after[0][0].int(0) == 0)
    }

    @Test("a second exchange is refused, and the first one goes on")
    func second() async throws {
        let (connection, other) = (try await open(), try await open())
        #expect(isSuccess(await run("SELECT pg_advisory_lock(71)", on: other)))
        async let first = run("SELECT pg_advisory_lock(71)", on: connection)
        while !connection.isBusy { await Task.yield() }
        let refused = await run("SELECT 1", "SELECT 2", on: connection)
        #expect(!isSuccess(refused))
        #expect(isSuccess(await run("SELECT pg_advisory_unlock(71)", on: other)))
        #expect(isSuccess(await first))
        #expect(isSuccess(await run("SELECT pg_advisory_unlock(71)", on: connection)))
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
                        _ = try await pool.run(
                            PostgresRequest(
                                statements: [PostgresStatement("SELECT 1")], lane: number == 3 ? .urgent : .alone))
                        order.change { $0.append(number) }
                    })
                while pool.waitingCount != number + 1 { await Task.yield() }
            }
            return tasks
        }
        for task in tasks { try await task.value }
        #expect(order.value.first == 3 && order.value.sorted() == [0, 1, 2, 3])
    }

    /// Requests that wait while another caller has the only connection, and what came of each.
    private func sharing(
        _ requests: [PostgresRequest], over pool: PostgresPool
    ) async throws -> [Result<[[PostgresRow]], PostgresFailure>] {
        let tasks = try await pool.transaction { _ in
            var tasks: [Task<Result<[[PostgresRow]], PostgresFailure>, Never>] = []
            for request in requests {
                tasks.append(
                    Task {
                        do throws(PostgresFailure) { return .success(try await pool.run(request)) } catch {
                            return .failure(error)
                        }
                    })
                while pool.waitingCount != tasks.count { await Task.yield() }
            }
            return tasks
        }
        var results: [Result<[[PostgresRow]], PostgresFailure>] = []
        for task in tasks { results.append(await task.value) }
        return results
    }

    private func request(_ sql: String, _ lane: PostgresRequest.Lane, _ name: UInt8 = 0) -> PostgresRequest {
        PostgresRequest(statements: [PostgresStatement(sql)], lane: lane, name: [name])
    }

    private static let transaction = "SELECT pg_current_xact_id()::text::bigint"

    @Test("requests of one lane that wait share a transaction, and those of another one do not")
    func shared() async throws {
        let pool = PostgresPool(address, limit: 1)
        defer { pool.close() }
        let lanes: [PostgresRequest.Lane] = [.record, .lease, .record, .alone, .lease, .record, .alone]
        let results = try await sharing(lanes.map { request(Self.transaction, $0) }, over: pool)
        let numbers = try results.map { try $0.get()[0][0].int(0) }
        #expect(Set([0, 2, 5].map { numbers[$0] }).count == 1 && numbers[1] == numbers[4])
        #expect(Set(numbers).count == 4)
    }

    @Test("rows are locked in the order of names, whatever order the requests came in")
    func order() async throws {
        let pool = PostgresPool(address, limit: 1)
        defer { pool.close() }
        let time = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
        let names: [UInt8] = [5, 3, 9, 1]
        let results = try await sharing(names.map { request(time, .record, $0) }, over: pool)
        let times = try results.map { try $0.get()[0][0].int(0) }
        #expect(zip(names, times).sorted { $0.1 < $1.1 }.map(\.0) == [1, 3, 5, 9])
    }

    @Test("a request that fails leaves those that went along done")
    func companions() async throws {
        let pool = PostgresPool(address, limit: 1)
        defer { pool.close() }
        let statements = ["SELECT 1::bigint", "SELECT 1 / 0", "SELECT 2::bigint"]
        for failing in 0..<3 {
            var all = statements
            all.swapAt(1, failing)
            let results = try await sharing(all.map { request($0, .record) }, over: pool)
            let states = results.map { result in
                if case .failure(let failure) = result { failure.state } else { "" }
            }
            #expect(states == all.map { $0.contains("/") ? "22012" : "" })
        }
    }

    @Test("a shared transaction is no larger than a bound, in requests and in bytes")
    func bounds() async throws {
        let pool = PostgresPool(address, limit: 1)
        defer { pool.close() }
        let small = [PostgresRequest](repeating: request(Self.transaction, .record), count: 130)
        let numbers = try await sharing(small, over: pool).map { try $0.get()[0][0].int(0) }
        #expect(Set(numbers).count == 3)
        let large = PostgresRequest(
            statements: [
                PostgresStatement(
                    Self.transaction + " WHERE $1::bytea IS NOT NULL",
                    [.bytes([UInt8](repeating: 1, count: 200_000))])
            ], lane: .record)
        let others = try await sharing([large, large, large], over: pool).map { try $0.get()[0][0].int(0) }
        #expect(Set(others).count == 3)
    }
}

/// Blocks the thread, as no task should.
func holdThread(for seconds: Double) { Thread.sleep(forTimeInterval: seconds) }
