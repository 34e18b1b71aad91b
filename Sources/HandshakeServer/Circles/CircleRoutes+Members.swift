#if Server
import Circles
import Crypto
import HTTPTypes
import Handshake
import Hummingbird
import NIOCore
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CircleRoutes {
    // MARK: The member

    func addMember(to router: some RouterMethods<Context>) {
        router.get("v1/me") { request, _ in
            await asMember(request, \.reads) { member in .json(await row(member, own: true, request)) }
        }
        router.put("v1/me/member") { request, _ in
            await asMember(request, \.writes) { member in
                let bytes = try await octets(request)
                return await published(
                    try await circle.publish(bytes, ofIdentity: member.number, by: try Self.bearer(of: request)))
            }
        }
        router.put("v1/me/keys") { request, _ in
            await asMember(request, \.writes) { member in
                let bytes = try await octets(request)
                return await published(
                    try await circle.publish(bytes, ofKeys: member.number, by: try Self.bearer(of: request)))
            }
        }
        router.put("v1/me/settings") { request, _ in
            await asMember(request, \.writes) { member in
                let settings = try await object(request)
                let changed = try await circle.change(
                    member.number, showsPhoto: settings["photo"]?.bool, showsBatch: settings["batch"]?.bool)
                return .json(await row(changed, own: true, request))
            }
        }
        router.get("v1/me/hidden") { request, _ in
            await asMember(request, \.reads) { member in
                .json(["hidden": .array(member.hidden.sorted().map { .number("\($0)") })])
            }
        }
        router.put("v1/me/hidden/:number") { request, context in
            await asMember(request, \.writes) { member in
                try await circle.hide(try number(context), from: member.number, true)
                return .done
            }
        }
        router.delete("v1/me/hidden/:number") { request, context in
            await asMember(request, \.writes) { member in
                try await circle.hide(try number(context), from: member.number, false)
                return .done
            }
        }
        router.delete("v1/me/token") { request, _ in
            await asMember(request, \.writes) { member in
                try await circle.signOut(try Self.bearer(of: request), of: member.number)
                return .done
            }
        }
        router.delete("v1/me") { request, _ in
            // A member who wants to leave is not told to wait.
            await asMember(request, \.reads) { member in
                try await circle.leave(member.number)
                return .done
            }
        }
    }

    private func published(_ revision: UInt64) async -> Response {
        .json(["revision": .number("\(revision)"), "epoch": .number("\(await circle.state.epoch)")])
    }

    /// A member's row, as others see it or as the member does.
    private func row(_ member: CircleMember, own: Bool = false, _ request: Request? = nil) async -> JSONObject {
        var row: JSONObject = ["number": .number("\(member.number)"), "name": .string(member.name)]
        if own || member.showsBatch { row["batch"] = .string(member.batch) }
        if let photo = member.photo, own || member.showsPhoto {
            row["photo"] = .object([
                "pack": .string(Self.pack(PhotoPack.index(of: member.number))),
                "sha256": .string(Base64URL.encode(SHA256.hash(data: photo))),
            ])
        }
        row["member"] = member.identity.map { .string(Base64URL.encode($0.bytes)) }
        guard own, let request, let bearer = try? Self.bearer(of: request) else { return row }
        row["expires_at"] = member.bearers[MemberCircle.digest(bearer)].map { .number("\(Int64($0))") }
        row["settings"] = .object(["photo": .bool(member.showsPhoto), "batch": .bool(member.showsBatch)])
        return row
    }

    static func pack(_ index: UInt8) -> String { (index < 16 ? "0" : "") + String(index, radix: 16) }

    // MARK: Tables

    func addTables(to router: some RouterMethods<Context>) {
        router.get("v1") { _, _ in
            if await circle.state.isEpochDue {
                // A vault that fails now does not keep anyone from asking: the next request raises it.
                try? await circle.inTurn { try await $0.raiseEpochIfDue() }
            }
            let state = await circle.state
            var response = Response.json([
                "circle": .string(circle.name), "name": .string(circle.name),
                "service": .string(handshake.clients.first?.service.name ?? ""), "epoch": .number("\(state.epoch)"),
                "time": .number("\(Int64(circle.time.now()))"), "versions": .array([.number("1")]),
                "limits": .object(["members": .number("\(MemberCircle.maximumMembers)")]), "photos": .bool(true),
            ])
            response.headers[.cacheControl] = "max-age=300"
            return response
        }
        router.get("v1/members") { request, _ in
            await asMember(request, \.reads) { member in
                try await table(request, of: member, "members") { since, limit in
                    let page = try await circle.memberPage(for: member.number, since: since, limit: limit)
                    return .json(try await body(page))
                }
            }
        }
        router.get("v1/keys") { request, _ in
            await asMember(request, \.reads) { member in
                try await table(request, of: member, "keys") { since, limit in
                    let page = try await circle.keyPage(for: member.number, since: since, limit: limit)
                    let octets = KeyPage(
                        epoch: page.epoch, revision: page.revision, hasMore: page.hasMore, cursor: page.cursor,
                        entries: page.rows)
                    return .octets(octets.bytes)
                }
            }
        }
        router.get("v1/photos/:pack") { request, context in
            await asMember(request, \.photos) { member in
                guard let text = context.parameters.get("pack"), text.utf8.count == 2,
                    let index = UInt8(text, radix: 16), Self.pack(index) == text
                else { throw RequestRefusal(.notFound, "not_found", "There is no such pack") }
                let bytes = await circle.photos(index, for: member.number).bytes
                let tag = "\"\(Base64URL.encode(SHA256.hash(data: bytes).prefix(12)))\""
                return Self.tagged(request, tag) { .octets(bytes) }
            }
        }
    }

    private func table(
        _ request: Request, of member: CircleMember, _ what: String,
        _ body: (_ since: String?, _ limit: Int) async throws -> Response
    ) async throws -> Response {
        let since = request.uri.queryParameters["since"].map(String.init)
        let limit = request.uri.queryParameters["limit"].map(String.init) ?? "\(KeyPage.maximumEntries)"
        guard let limit = Int(limit), (1...KeyPage.maximumEntries).contains(limit) else {
            throw RequestRefusal(.badRequest, "invalid_parameters", "limit takes 1 to \(KeyPage.maximumEntries)")
        }
        let tag = await circle.tableTag(for: member.number, "\(what) \(since ?? "") \(limit)")
        if Self.isKnown(request, tag) { return Self.tagged(request, tag) { .done } }
        let response = try await body(since, limit)
        return Self.tagged(request, tag) { response }
    }

    private func body(_ page: CirclePage<MemberCircle.MemberEntry>) async throws -> JSONObject {
        var rows: [JSONValue] = []
        var gone: [JSONValue] = []
        for entry in page.rows {
            switch entry {
            case .row(let member): rows.append(.object(await row(member)))
            case .gone(let number): gone.append(.number("\(number)"))
            }
        }
        return [
            "epoch": .number("\(page.epoch)"), "revision": .number("\(page.revision)"), "cursor": .string(page.cursor),
            "more": .bool(page.hasMore), "members": .array(rows), "gone": .array(gone),
        ]
    }

    private static func isKnown(_ request: Request, _ tag: String) -> Bool {
        let known = request.headers[.ifNoneMatch]?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
        return known.contains(tag)
    }

    /// A response with a strong tag that is each recipient's own; 304 to who has it.
    private static func tagged(_ request: Request, _ tag: String, _ body: () -> Response) -> Response {
        var response = isKnown(request, tag) ? Response(status: .notModified, headers: Response.quiet) : body()
        response.headers[.eTag] = tag
        response.headers[.cacheControl] = "private, no-cache"
        response.headers[.vary] = "Authorization"
        return response
    }

    // MARK: Waves

    func addWaves(to router: some RouterMethods<Context>) {
        router.post("v1/waves") { request, _ in
            await asMember(request, \.waves) { member in
                let wave = try await object(request)
                let meetings = (wave["meet"]?.array ?? []).prefix(64).map { value in
                    value.string.flatMap { Base64URL.decode($0) } ?? []
                }
                let box = wave["box"]?.string.flatMap { Base64URL.decode($0) } ?? []
                let (id, seconds) = try await circle.wave(
                    from: member.number, id: wave["id"]?.string, meetings: meetings, box: box)
                return .json(
                    ["id": .string(id), "expires_in": .number("\(Int(seconds))")], status: .created)
            }
        }
        router.get("v1/waves") { request, _ in
            await asMember(request, \.reads) { member in
                let report = try await circle.waves(of: member.number)
                return .json([
                    "matched": .array(
                        report.matched.map {
                            .object(["id": .string($0.id), "box": .string(Base64URL.encode($0.box))])
                        }),
                    "waiting": .array(report.waiting.map { .string($0) }),
                ])
            }
        }
        router.delete("v1/waves/:id") { request, context in
            await asMember(request, \.reads) { member in
                try await circle.withdraw(context.parameters.get("id") ?? "", of: member.number)
                return .done
            }
        }
    }
}

extension Response {
    /// Bytes that are not text.
    fileprivate static func octets(_ bytes: [UInt8]) -> Response {
        var response = Response(status: .ok, headers: quiet, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        response.headers[.contentType] = "application/octet-stream"
        return response
    }
}
#endif
