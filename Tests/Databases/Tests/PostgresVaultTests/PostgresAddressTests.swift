import Handshake
import Testing

@testable import PostgresVault

@Suite("The address of a PostgreSQL server in an error")
struct PostgresAddressTests {
    @Test(
        "an address leads where its connection string leads: options stay, what is special is encoded",
        arguments: [
            ("postgresql://app@db.example.com/vault?sslmode=verify-full", nil),
            ("service=accounts", "postgresql:///?service=accounts"),
            ("host=a,b port=1,2 user=u dbname=x", "postgresql://u@a:1,b:2/x"),
            ("host=a,b port=1 dbname=x", "postgresql://a:1,b:1/x"),
            ("host=a,b port=1,2,3 dbname=x", "postgresql:///x?host=a,b&port=1,2,3"),
            ("host=/var/run/postgresql dbname=v", "postgresql://%2Fvar%2Frun%2Fpostgresql/v"),
            ("host=::1 port=5433 dbname=v", "postgresql://[::1]:5433/v"),
            ("host=h user=a@b dbname='x y?z'", "postgresql://a%40b@h/x%20y%3Fz"),
            ("hostaddr=10.0.0.1 dbname=v", "postgresql:///v?hostaddr=10.0.0.1"),
            ("host=h dbname=v options='-c search_path=x'", "postgresql://h/v?options=-c%20search_path%3Dx"),
            ("host=h dbname=v sslrootcert=/etc/root.crt passfile=/etc/pgpass", nil),
        ] as [(String, String?)])
    func described(connection: String, expected: String?) throws {
        let printed = try PostgresVault.address(of: connection)
        if let expected { #expect(printed == expected) }
        // What is printed can be used.
        let again = try PostgresVault.address(of: printed)
        #expect(again == printed)
    }

    @Test("an address has no password, and a value that may hold one is left open")
    func secrets() throws {
        let address = try PostgresAddress(
            "host=h user=u dbname=v password=hunter2 sslpassword=hunter2 sslkey=/k application_name=u:hunter2@h")
        #expect("\(address)" == "postgresql://u@h/v?application_name=…&sslkey=/k")
        #expect(address.quotedForShell == "'postgres:\(address)'")
        #expect(try PostgresAddress("host=h dbname=v").quotedForShell == "postgres:postgresql://h/v")
    }

    @Test(
        "a key in a device and settings of an app are not shown, a key's path and known settings are",
        arguments: [
            ("sslkey=pkcs11:pkcs11:object=k;type=private;pin-value=1234", "sslkey=…"),
            ("sslkey=/etc/key.pem", "sslkey=/etc/key.pem"),
            ("options='-c app.key=hunter2'", "options=…"),
            ("options='-c search_path=x -c app.key=hunter2'", "options=…"),
            ("options='--app.key=hunter2 -csearch_path=x'", "options=…"),
            ("options='-c search_path=x\\\\ hunter2'", "options=-c%20search_path%3Dx%5C%20hunter2"),
            ("options='-c search_path=x hunter2'", "options=…"),
            ("options='-d 5'", "options=…"),
            (
                "options='-c Lock_Timeout=5s --statement-timeout=9'",
                "options=-c%20Lock_Timeout%3D5s%20--statement-timeout%3D9"
            ),
        ] as [(String, String)])
    func shown(option: String, expected: String) throws {
        let address = try PostgresAddress("host=h dbname=v \(option)")
        #expect("\(address)" == "postgresql://h/v?\(expected)")
    }

    @Test("an error that quotes a password, a key in a device or a setting of an app is shown without it")
    func redacted() throws {
        let address = try PostgresAddress(
            "host=h sslkey=pkcs11:object=k;pin-value=1234 options='-c app.key=hunter\\\\ 2 -c jit=off' password=pw-3")
        let text = "could not read key \"object=k;pin-value=1234\", app.key \"hunter 2\", jit \"off\", \"pw-3\""
        #expect(address.redacted(text) == "could not read key \"…\", app.key \"…\", jit \"off\", \"…\"")
    }
}
