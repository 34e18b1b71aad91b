// Requests use its methods and header fields: `account.send(.get, …)` needs no import of its own.
@_exported public import HTTPTypes
