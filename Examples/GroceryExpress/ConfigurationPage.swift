#if Server && Sandbox
import Geofences
import IFTTTConnect
import Mustache

/// The configuration page as HTML (F109).
struct ConfigurationPage {
    let screen: ConfigurationQuestions
    let entry: Entry

    /// What was sent with the page's form, and what is wrong with it.
    struct Entry: Sendable {
        var fields: [String: String] = [:]
        var problem: String?

        /// The area for which a place is searched. Return in any field presses the form's first button: then it is the area in
        /// whose search something stands, and where none does, nothing is searched.
        var searched: String? {
            guard let pressed = fields["find"] else { return nil }
            func isFilled(_ area: String) -> Bool { !(fields["\(area).search"] ?? "").allSatisfy(\.isWhitespace) }
            let areas = fields.keys.filter { $0.hasSuffix(".search") }.map { String($0.dropLast(".search".count)) }
            return ([pressed] + areas.sorted()).first(where: isFilled)
        }
    }

    /// Text of our own; a mistake in it would show at the first look at the page.
    private static let template = try? MustacheTemplate(
        string: """
            {{#problem}}<p class="problem" role="alert">{{.}}</p>{{/problem}}
            <form method="post" action="/connections/{{id}}/configure">
            <input type="hidden" name="form_token" value="{{token}}">
            {{#parts}}
            <fieldset><legend>{{title}}</legend>
            {{#areas}}
            <p class="field"><label for="{{name}}.search">Search for a place</label>
            <span class="search"><input id="{{name}}.search" name="{{name}}.search" type="search" value="{{search}}">
            <button class="plain" name="find" value="{{name}}" formnovalidate>Search</button></span></p>
            <div role="status">{{#found}}<p>{{.}}</p>{{/found}}</div>
            <div class="pair">
            <p class="field"><label for="{{name}}.latitude">Latitude in degrees</label>
            <input id="{{name}}.latitude" name="{{name}}.latitude" inputmode="decimal" required value="{{latitude}}"></p>
            <p class="field"><label for="{{name}}.longitude">Longitude in degrees</label>
            <input id="{{name}}.longitude" name="{{name}}.longitude" inputmode="decimal" required value="{{longitude}}"></p>
            </div>
            <p class="field"><label for="{{name}}.radius">Radius in metres</label>
            <input id="{{name}}.radius" name="{{name}}.radius" inputmode="decimal" required value="{{radius}}"></p>
            <p class="field"><label for="{{name}}.address">Address</label>
            <input id="{{name}}.address" name="{{name}}.address" autocomplete="street-address" value="{{address}}"></p>
            {{#map}}<figure class="map"><div role="img" aria-label="{{label}}">{{{svg}}}</div>\
            <figcaption>The area as it was when this page was opened. The town is made up.</figcaption></figure>{{/map}}
            {{/areas}}
            {{#choices}}
            <p class="field"><label for="{{name}}">{{label}}</label><select id="{{name}}" name="{{name}}">
            {{#options}}<option value="{{value}}"{{#chosen}} selected{{/chosen}}>{{label}}</option>{{/options}}
            </select></p>
            {{/choices}}
            {{#texts}}
            <p class="field"><label for="{{name}}">{{label}}</label><input id="{{name}}" name="{{name}}" value="{{value}}"></p>
            {{/texts}}
            </fieldset>
            {{/parts}}
            {{^parts}}<p>There is nothing to choose here. Save, and it begins.</p>{{/parts}}
            <p class="ways"><button>Save</button> <a href="/connections/{{id}}">Back without saving</a></p>
            </form>
            """)

    /// What stands in place of the form while IFTTT does not answer. It keeps what was typed, and whether a place is searched.
    private static let notice = try? MustacheTemplate(
        string: """
            <p class="problem" role="alert">{{problem}}</p>
            {{#typed}}
            <form method="post" action="/connections/{{id}}/configure">
            <input type="hidden" name="form_token" value="{{token}}">
            {{#fields}}<input type="hidden" name="{{name}}" value="{{value}}">{{/fields}}
            <p class="ways"><button>{{again}}</button> <a href="/connections/{{id}}">Back without saving</a></p>
            </form>
            {{/typed}}
            {{^typed}}
            <p class="ways"><a href="/connections/{{id}}/configure">Try again</a> <a href="/connections/{{id}}">Back</a></p>
            {{/typed}}
            """)

    static func renderNotice(_ id: ConnectionID, _ entry: Entry, token: String) -> String? {
        let isSearching = entry.searched != nil
        let typed = entry.fields.filter { $0.key != "form_token" && (isSearching || $0.key != "find") }
            .sorted { $0.key < $1.key }
        var content: [String: Any] = ["id": id.rawValue, "token": token, "problem": entry.problem ?? ""]
        content["again"] = isSearching ? "Search again" : "Save again"
        // The first saving of a connection without questions has no field either.
        if !entry.fields.isEmpty {
            content["typed"] = "yes"
            content["fields"] = typed.map { ["name": $0.key, "value": $0.value] as [String: Any] }
        }
        return notice?.render(content)
    }

    func render(token: String) -> String? {
        var content: [String: Any] = ["id": screen.connection.id.rawValue, "token": token]
        content["problem"] = entry.problem
        content["parts"] = screen.parts.map { part in
            [
                "title": part.title,
                "areas": part.questions.filter(\.isArea).map(area),
                "choices": part.questions.filter { !$0.isArea && !$0.options.isEmpty }.map(choice),
                "texts": part.questions.filter { !$0.isArea && $0.options.isEmpty }.map(text),
            ] as [String: Any]
        }
        return Self.template?.render(content)
    }

    /// An area's fields: what was found, else what was typed, else what the customer has.
    private func area(_ question: ConfigurationQuestions.Question) -> [String: Any] {
        let name = question.name
        let isSearched = entry.searched == name
        let search = entry.fields["\(name).search"] ?? ""
        let places = isSearched ? Place.matching(search) : []
        let place = places.first
        let own: LocationValue? = if case .location(let area) = question.value { area } else { nil }
        func shown(_ part: String, _ found: String?, _ own: String?) -> String {
            found ?? entry.fields["\(name).\(part)"] ?? own ?? ""
        }
        var content: [String: Any] = [
            "name": name,
            // Found is found: the next Return saves.
            "search": place == nil ? search : "",
            "latitude": shown(
                "latitude", place.map { Self.written($0.latitude) }, own.map { Self.written($0.latitude) }),
            "longitude": shown(
                "longitude", place.map { Self.written($0.longitude) }, own.map { Self.written($0.longitude) }),
            "radius": shown("radius", nil, Self.written(own?.radius ?? 250)),
            "address": shown("address", place?.name, own?.address),
        ]
        content["map"] = map(content)
        if isSearched {
            content["found"] =
                place.map { "Found \($0.name)." + (places.count > 1 ? " \(places.count - 1) more fit." : "") }
                ?? "No place fits. Try a city, or type the coordinates."
        }
        return content
    }

    /// The area of the fields on a map; nil while they name none.
    private func map(_ fields: [String: Any]) -> [String: Any]? {
        let numbers = ["latitude", "longitude", "radius"].compactMap {
            // Customers may write a comma.
            (fields[$0] as? String).flatMap { Double($0.replacing(",", with: ".")) }
        }
        guard numbers.count == 3, let center = try? Coordinate(latitude: numbers[0], longitude: numbers[1]),
            let circle = try? Circle(center: center, radius: min(numbers[2], 20_000_000)),
            let address = fields["address"] as? String,
            let region = try? Geofence(id: address.isEmpty ? "Area" : String(address.prefix(80)), .circle(circle))
        else { return nil }
        return [
            "label": "Map: \(region.id), radius \(Self.written(circle.radius)) m.",
            "svg": GeofenceMap(regions: [region], hasStreets: true).svg,
        ]
    }

    private func choice(_ question: ConfigurationQuestions.Question) -> [String: Any] {
        let chosen = entry.fields[question.name] ?? question.value?.word
        let options = question.options.map { option in
            var row: [String: Any] = ["value": option.value, "label": option.label ?? option.value]
            if option.value == chosen { row["chosen"] = "yes" }
            return row
        }
        return ["name": question.name, "label": question.field.label ?? question.field.id, "options": options]
    }

    private func text(_ question: ConfigurationQuestions.Question) -> [String: Any] {
        [
            "name": question.name, "label": question.field.label ?? question.field.id,
            "value": entry.fields[question.name] ?? question.value?.word ?? "",
        ]
    }

    /// A number as one writes it: 250, and not 250.0.
    private static func written(_ number: Double) -> String {
        Int(exactly: number).map(String.init) ?? "\(number)"
    }
}

extension FieldValue {
    /// What stands in a field for it.
    fileprivate var word: String? {
        switch self {
        case .text(let text): text
        case .option(let option): option.value
        case .options, .location, .other: nil
        }
    }
}
#endif
