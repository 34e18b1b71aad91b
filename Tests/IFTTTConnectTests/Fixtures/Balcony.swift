import IFTTTConnect
import OAuth

/// The connection of the dossier's example (1.10), and answers made from it.
enum Balcony {
    static let id = "aB3dE5fG"

    /// The example as it stands in the dossier, with the status and the user's part to choose.
    static func json(status: String = "\"enabled\"", userConnection: String? = userConnection) -> String {
        """
        {
          "type": "connection",
          "id": "aB3dE5fG",
          "name": "Water the balcony when you leave home",
          "description": "Lumen Garden starts the drip line as soon as you walk out.",
          "url": "https://ifttt.com/connections/aB3dE5fG",
          "embedded_url": "https://ifttt.com/access/api/aB3dE5fG",
          "enabled_count": 41,
          "user_status": \(status),
          "services": [
            { "service_id": "lumen_garden", "service_name": "Lumen Garden", "service_short_name": "Lumen",
              "is_primary": true, "monochrome_icon_url": "http://127.0.0.1:8700/assets/lumen_mono.png",
              "color_icon_url": "http://127.0.0.1:8700/assets/lumen.png", "brand_color": "#2b8a3e",
              "url": "https://ifttt.com/lumen_garden", "triggers": [], "queries": [], "actions": [] },
            { "service_id": "location", "service_name": "Location", "service_short_name": "Location",
              "is_primary": false, "monochrome_icon_url": "http://127.0.0.1:8700/assets/location_mono.png",
              "color_icon_url": "http://127.0.0.1:8700/assets/location.png", "brand_color": "#0099ff",
              "url": "https://ifttt.com/location", "triggers": [], "queries": [], "actions": [] }
          ],
          "cover_image": { "480w_url": "http://127.0.0.1:8700/assets/cover480.png", "720w_url": null,
                           "1080w_url": "http://127.0.0.1:8700/assets/cover1080.png" },
          "value_propositions": [],
          "features": [ \(feature) ]\(userConnection.map { ",\n  \"user_connection\": \($0)" } ?? "")
        }
        """
    }

    static let feature = """
        { "id": "ft01", "title": "Start when you leave", "description": null,
          "icon_url": "http://127.0.0.1:8700/assets/feature_leave.png",
          "field_options_url": "https://connect.ifttt.com/v2/connections/aB3dE5fG/features/ft01/field_options",
          "fields": [],
          "feature_triggers": [
            { "id": "tr01", "trigger_id": "exit_region_location", "service_id": "location", "label": "You leave an area",
              "field_options_url": "https://connect.ifttt.com/v2/connections/aB3dE5fG/triggers/location.exit_region_location/field_options",
              "run_url": null,
              "fields": [ { "id": "location", "label": "Which area?", "type": "LOCATION_EXIT", "required": true,
                            "hidden": false,
                            "default_value": { "lat": 52.5200, "lng": 13.4050, "radius": 250.0,
                              "address": "Sample Square 1, Berlin", "description": "Home", "zoom": 16 } } ] } ],
          "feature_queries": [],
          "feature_actions": [
            { "id": "ac01", "action_id": "start_drip", "service_id": "lumen_garden", "label": "Start the drip line",
              "field_options_url": "https://connect.ifttt.com/v2/connections/aB3dE5fG/actions/lumen_garden.start_drip/field_options",
              "run_url": "https://connect.ifttt.com/v2/connections/aB3dE5fG/actions/lumen_garden.start_drip/run",
              "fields": [ { "id": "zone", "label": "Zone", "type": "COLLECTION_SELECT", "required": true,
                            "hidden": false, "default_value": null } ] } ] }
        """

    static let userConnection = """
        { "user_features": [
          { "id": "0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0001", "feature_id": "ft01", "enabled": true, "user_fields": [],
            "user_feature_triggers": [
              { "id": "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002", "feature_trigger_id": "tr01",
                "user_fields": [ { "field_id": "location", "field_type": "LOCATION_EXIT",
                  "value": { "lat": 52.5201, "lng": 13.4049, "radius": 180.5, "address": "Sample Square 1, Berlin",
                             "description": "Home", "zoom": 16 } } ] } ],
            "user_feature_queries": [],
            "user_feature_actions": [
              { "id": "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0003", "feature_action_id": "ac01",
                "user_fields": [ { "field_id": "zone", "field_type": "COLLECTION_SELECT",
                  "value": { "group": null, "label": "Balcony", "value": "zone-7" } } ] } ] } ] }
        """

    /// On, and nothing of it configured.
    static func unconfigured() throws -> Connection {
        try Connection(parsing: Array(json(userConnection: #"{ "user_features": [] }"#).utf8))
    }

    static func connection(_ status: Connection.Status = .enabled) throws -> Connection {
        switch status {
        case .enabled: try Connection(parsing: Array(json().utf8))
        case .unknown: try Connection(parsing: Array(json(status: "null", userConnection: nil).utf8))
        default:
            try Connection(parsing: Array(json(status: "\"\(status.rawValue)\"", userConnection: nil).utf8))
        }
    }
}
