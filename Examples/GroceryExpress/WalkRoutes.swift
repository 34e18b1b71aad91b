#if Server && Sandbox
import ExampleServer
import Hummingbird
import IFTTTConnect

/// The walk: an area on a map, what a phone notices there, and IFTTT's event about it.
extension ShopRoutes {
    func addWalks(to router: Router<BasicRequestContext>) {
        router.get("connections/:id/walk") { request, context in
            let id = context.parameters.get("id")
            return await answering(request) { try await walk(id, $0) }
        }
        router.post("connections/:id/walk") { request, context in
            let id = context.parameters.get("id")
            return await submitting(request) { form, visit in
                try await takeWalk(id, visit, request, monitorsAreas: form["monitored"] == "on")
            }
        }
    }

    private func walk(_ id: String?, _ visit: Visit) async throws -> Response {
        guard let id = known(id) else { return pages.missing(visit) }
        // Its page asks visitors to log in.
        guard let customer = visit.customer else { return .seeOther("/connections/\(id)") }
        let connection = await connection(id, of: customer)
        guard connection?.status ?? .enabled == .enabled else { return .seeOther("/connections/\(id)") }
        let phone = shop.phones[customer, id]
        await phone?.settle(within: Shop.deadline)
        let diary = phone?.diary ?? Diary()
        // While IFTTT is silent, what the phone knows is shown.
        let areas = connection.map(Area.all) ?? diary.areas
        guard connection != nil || !areas.isEmpty else { return pages.trouble(visit) }
        return pages.walk(id, areas, diary, visit)
    }

    private func takeWalk(
        _ id: String?, _ visit: Visit, _ request: Request, monitorsAreas: Bool
    ) async throws -> Response {
        guard let id = known(id) else { return pages.missing(visit) }
        guard let customer = visit.customer else { return .seeOther("/connections/\(id)") }
        let connection = await connection(id, of: customer)
        guard connection?.status ?? .enabled == .enabled else { return .seeOther("/connections/\(id)") }
        let areas = connection.map(Area.all)
        guard areas?.isEmpty != true else { return .seeOther("/connections/\(id)/walk") }
        let phone = shop.phones.phone(of: customer, for: id, at: shop.hosts)
        // A customer who was forgotten since the form came has no walks.
        guard shop.visits.known(request)?.customer == customer else {
            shop.phones.forget(customer)
            return pages.stale(visit)
        }
        _ = await shop.soon {
            await phone.walk(past: areas, monitorsAreas: monitorsAreas) { try await shop.userToken(of: customer) }
        }
        return .seeOther("/connections/\(id)/walk")
    }

    /// The connection as the customer has it now; nil when IFTTT does not answer soon.
    private func connection(_ id: ConnectionID, of customer: String) async -> Connection? {
        await shop.soon { try? await shop.connection(id, of: customer) }
    }
}
#endif
