#!/bin/bash
# This works even without JSON!
echo "Access denied: sensitive directory"
exit 2
