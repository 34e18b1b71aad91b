/// Certificates of an authority that exists in these tests alone. Their keys protect nothing and are no secrets.
enum TestCertificates {
    /// The thumbprint of ``client``, as OpenSSL and Python compute it.
    static let clientThumbprint = "YHNcVMQNDxCOsZIz-9xqErc5uVZv54qKtfkPH_E6laI"

    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBkDCCATWgAwIBAgIUZn+/1E14HqKogJZMaKANgreeFI8wCgYIKoZIzj0EAwIw
        HDEaMBgGA1UEAwwRc2FuZGJveCBhdXRob3JpdHkwIBcNMjYxMTIzMTU1MzA4WhgP
        MjEyNjEwMzAxNTUzMDhaMBwxGjAYBgNVBAMMEXNhbmRib3ggYXV0aG9yaXR5MFkw
        EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE/etMnv/p7xI27+8ZubrlZb7TCB1vZx9G
        9W0y3rdV6Xd8VGYiyT41yyOtiK7umz8fmUpY+n11oMZnnsnL36aerKNTMFEwHQYD
        VR0OBBYEFLCqlgMOZBRU3zwkXM/JxQ1kNEZ5MB8GA1UdIwQYMBaAFLCqlgMOZBRU
        3zwkXM/JxQ1kNEZ5MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIh
        AM736hYF1Ep1kGEDXaXdYmwhSZZLnKCvWxCuVO30lZ5EAiEA6Nfwj6yubibqm9Hq
        BKNlR+nULDu/JI+OIS2v9mDi9nI=
        -----END CERTIFICATE-----
        """

    /// For `localhost` and `127.0.0.1`, with its key.
    static let server = """
        -----BEGIN CERTIFICATE-----
        MIIBpDCCAUqgAwIBAgIUcuumzRdhWExMi0W2PTehf0EzbncwCgYIKoZIzj0EAwIw
        HDEaMBgGA1UEAwwRc2FuZGJveCBhdXRob3JpdHkwIBcNMjYxMTIzMTU1MzA4WhgP
        MjEyNjEwMzAxNTUzMDhaMBExDzANBgNVBAMMBnNlcnZlcjBZMBMGByqGSM49AgEG
        CCqGSM49AwEHA0IABK69l140nzLSMRHJnCpcaEGmwkDWgjTQmhWarxQAE9myup5s
        5EX0/0H9jHKqRbGBtPVMFngw4VgDt7CvyYWpSgijczBxMBoGA1UdEQQTMBGCCWxv
        Y2FsaG9zdIcEfwAAATATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUC+H8
        C/2m3wfZu+zCCIZ7IHRJzZAwHwYDVR0jBBgwFoAUsKqWAw5kFFTfPCRcz8nFDWQ0
        RnkwCgYIKoZIzj0EAwIDSAAwRQIhAPFE1jLNcTtEoiXJXU4AITpOkkI521oGuwAy
        F5JIBVEnAiBMvnQM6Zqa4JaP6j2LvWn64pQMx5e5DQcEIu9GAVVvKw==
        -----END CERTIFICATE-----
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg23RnwA8P96oPzIUX
        EF4IywIR/MeAvmOg8Ja7I3Q2lOChRANCAASuvZdeNJ8y0jERyZwqXGhBpsJA1oI0
        0JoVmq8UABPZsrqebORF9P9B/YxyqkWxgbT1TBZ4MOFYA7ewr8mFqUoI
        -----END PRIVATE KEY-----
        """

    static let client = """
        -----BEGIN CERTIFICATE-----
        MIIBiDCCAS6gAwIBAgIUcuumzRdhWExMi0W2PTehf0EzbngwCgYIKoZIzj0EAwIw
        HDEaMBgGA1UEAwwRc2FuZGJveCBhdXRob3JpdHkwIBcNMjYxMTIzMTU1MzA4WhgP
        MjEyNjEwMzAxNTUzMDhaMBExDzANBgNVBAMMBmNsaWVudDBZMBMGByqGSM49AgEG
        CCqGSM49AwEHA0IABDzLrI2RwXD9trAmJsXibG8nyDk8ZLresLgYadmr4AbRX0G8
        ib68LxDI5tegGTvtyEteA819u6r/PW4RgBlmeQejVzBVMBMGA1UdJQQMMAoGCCsG
        AQUFBwMCMB0GA1UdDgQWBBTyAbkfO/Yv/OHpfa2LnMjOxRH5djAfBgNVHSMEGDAW
        gBSwqpYDDmQUVN88JFzPycUNZDRGeTAKBggqhkjOPQQDAgNIADBFAiBpa4+7Ae1C
        +BdVi/qcFshhAmUs0YlgUNHZyqFA5D/VFgIhAKABBc9zVjAnXZuihvGn6A+Ua6Fr
        h3b/gaYCs4R1eM2c
        -----END CERTIFICATE-----
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgL6yBLfQ0RO3wqU7/
        ejnSzph9ocftSl9bhkoA3ywVutOhRANCAAQ8y6yNkcFw/bawJibF4mxvJ8g5PGS6
        3rC4GGnZq+AG0V9BvIm+vC8QyObXoBk77chLXgPNfbuq/z1uEYAZZnkH
        -----END PRIVATE KEY-----
        """

    static let other = """
        -----BEGIN CERTIFICATE-----
        MIIBhzCCAS2gAwIBAgIUcuumzRdhWExMi0W2PTehf0EzbnkwCgYIKoZIzj0EAwIw
        HDEaMBgGA1UEAwwRc2FuZGJveCBhdXRob3JpdHkwIBcNMjYxMTIzMTU1MzA4WhgP
        MjEyNjEwMzAxNTUzMDhaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYI
        KoZIzj0DAQcDQgAEGeFi/6/X4x8qeaVmi+EXtAH8o/hqS+KjMH8MMg94JR5xZVam
        k40vkUftbmsX9SY2rY6+sphfPUfYzZMFhKj3MqNXMFUwEwYDVR0lBAwwCgYIKwYB
        BQUHAwIwHQYDVR0OBBYEFPEJfHnEYALzKXnFvZ5V1GVRXXuTMB8GA1UdIwQYMBaA
        FLCqlgMOZBRU3zwkXM/JxQ1kNEZ5MAoGCCqGSM49BAMCA0gAMEUCIDTSJazmV+kS
        HnPLDP9lsYQ+8sU1e9kugS08CqdeTQk/AiEA1ZkJ9Ulu9rp0tS3anAzuTIuesso6
        HYC5f2JbW03OWlc=
        -----END CERTIFICATE-----
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg306Uw/2QzLPMjucV
        2RRV7ubOxcJCRaWE90VlgVfpJGOhRANCAAQZ4WL/r9fjHyp5pWaL4Re0Afyj+GpL
        4qMwfwwyD3glHnFlVqaTjS+RR+1uaxf1Jjatjr6ymF89R9jNkwWEqPcy
        -----END PRIVATE KEY-----
        """

    /// A certificate with the key of another one.
    static let mismatched = parts(of: client).certificate + parts(of: other).key

    /// The certificate and the key of a text that has both.
    static func parts(of pem: String) -> (certificate: String, key: String) {
        let key = pem.firstRange(of: "-----BEGIN PRIVATE KEY-----")?.lowerBound ?? pem.endIndex
        return (String(pem[..<key]), String(pem[key...]))
    }
}
