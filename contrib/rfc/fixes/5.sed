# SPDX-License-Identifier: GPL-2.0
s/^\tif \(!pdd->pasid\)return 0;$/\tif (!pdd->pasid)\n\t\treturn 0;/
