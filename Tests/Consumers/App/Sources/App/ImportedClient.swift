import Directory

import struct Handshake.Client

// `Directory` and `Handshake` both have a `Client`. The import of the one declaration decides, also before Swift 6.3.
typealias RegisteredClient = Client
